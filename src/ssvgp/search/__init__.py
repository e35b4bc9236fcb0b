"""Which sets of inputs are shown to the evidence: a book of visited sets, screens, growth and moves."""
