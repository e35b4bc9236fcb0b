"""What many rows need: blocks that stand for the table, and parameters polished on larger ones."""
