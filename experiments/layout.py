"""The order of the results page: sections, tables, what each table shows in one sentence, and the figures beside it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Place:
    """A table of the page by name, the sentence above it, and the figures below it."""

    table: str
    says: str
    figures: tuple[str, ...] = ()


@dataclass(frozen=True)
class Section:
    """A heading, one sentence on what the experiment is, and its tables."""

    title: str
    says: str
    places: tuple[Place, ...]


TOY = Section(
    "The toy",
    "100 inputs of which 5 matter, 300 rows, 10 draws; inputs and target are standardised (B.1).",
    (
        Place("table1", "Spikes and slabs predict better than plain maximum likelihood (ML-II).", ("figure1",)),
        Place(
            "intersection",
            "Where spike and slab cross, by equation 14: the paper has its two values swapped.",
            ("figure_a0",),
        ),
        Place("table2", "The spike precision v alone moves the average PIP from 0 to 1.", ("figure_a1",)),
        Place("table3", "Zero temperature, dropped inputs and minibatches make it quicker at the same error."),
        Place(
            "table4",
            "Averaging over v frees the selection from the choice of v; below the printed rows stand ours, among them "
            "the paper's method with logs instead of s and σ, and with κ as its text has it.",
            ("figure2", "figure_a2"),
        ),
    ),
)
EXPERIMENT1 = Section(
    "Experiment 1: 6 of 1000 inputs from 100 rows",
    "Four of the six inputs act in straight lines, two in waves; 50 draws, 20 test rows each; the inputs are "
    "standardised, the target is taken as it is (B.2).",
    (
        Place(
            "table5",
            "The paper's method takes seconds where MCMC takes minutes (ours) or hours (the paper's).",
            ("accuracy",),
        ),
        Place(
            "mean_sd",
            "The paper's method finds the inputs in most draws, linear and additive methods in few; below the printed "
            "rows stand our default, MCMC, and other readings of how the rivals were run. With m < n it has the ten "
            "rounds of the authors' code, with m = n the five of B.1. A few draws decide the mean errors of the "
            "paper's method, and in these the random state does (below the table).",
            ("figure3",),
        ),
        Place(
            "percentiles",
            "The same trials by percentiles, which count from the good end: on minibatches the typical draw of the "
            "paper's method is faultless, and its mean error is made by a few others.",
        ),
        Place("savitsky", "MCMC over spikes and slabs, which the paper quotes from a single trial."),
    ),
)
EXPERIMENT2 = Section(
    "Experiment 2: a million rows, or ten thousand inputs",
    "Two inputs that interact among 10⁴ (n = 10⁴) or among 100 (n = 10⁶); no error can be below 0.25, the share of the "
    "noise (B.3).",
    (
        Place(
            "experiment2_wide",
            "With 10⁴ inputs of which two matter, methods that cannot select are far off.",
            ("figure4", "figure5"),
        ),
        Place("parts_wide", "Most of the time goes into the coordinate ascent (a-CAVI)."),
        Place(
            "experiment2_tall",
            "With a million rows and 100 inputs all printed errors are close to the noise, after hours of training.",
        ),
        Place("parts_tall", "Most of the time goes into leave-one-out, by which the members are weighed."),
    ),
)
REAL = Section(
    "Real data",
    "Random 4:1 splits; the target goes through Box-Cox, and errors are on that scale (B.4).",
    (
        Place("real_ujiindoorloc", "Position in a building from 520 radio strengths.", ("figure6",)),
        Place("real_ct_slices", "Height of a slice of a body from 380 numbers of its picture."),
        Place("real_blog_feedback", "Comments on an article from 280 numbers, in place of CT slices: the same size."),
        Place(
            "real_supercon_magpie",
            "Critical temperature of a superconductor from 132 numbers of its formula.",
            ("figure_a3",),
        ),
    ),
)
SECTIONS = (TOY, EXPERIMENT1, EXPERIMENT2, REAL)

INTRODUCTION = """# Results

Every number that the paper prints, beside ours. `make results` writes this page from `experiments/results`, one line
for each trial; `make experiments` runs the trials. First comes what became of each printed row, then every table with
its figures, a league of all methods, and how it was measured."""

RULES = """A number is **reproduced** within two standard errors of print, both spreads counted, and **better** where
it is further off on the good side; where a row is **not** reproduced, the reason follows. MSE is the squared error
over the variance of the test targets. Three numbers with strokes are the quartiles from the good end. Times do not
count, since the printed ones are of another machine. Ours is the CPU time of fit and prediction on one thread, for SGP
and SVGP that of all their training, and wall time for trials that were stored without it. A time with † is of trials
that ran beside other work, by the clock up to three times as long as alone, in CPU time less."""

TARGET_TITLE = "What y does to the paper's method"
TARGET_SAYS = """B.2 standardises the inputs alone, and the printed numbers rest on it: with y standardised, or turned
upside down (2 mean(y) - y in place of y, the first 20 draws), the same method falls. At small inverse lengthscales a
centred process sees linear trends alone, and x5 acts by a hump, sin(3 x5); a process with a positive level is paid for
humps, and upside down the hump is a valley ([The method](method.md)). The default integrates over an unknown constant,
so that neither sign nor level matters to it. Standardised, reflected, and with m = n the paper's method had the five
rounds of B.1, with which y as it is gives 0.87; 0.0196 (m = n/2) and 0.94; 0.0133 (m = n/4)."""

TRAINING_TITLE = "SGP and SVGP on their way"
TRAINING_SAYS = """Both are trained as long as B.3 and B.4 say, or until two and a half hours of processor time are
over. The lines are the errors of 2000 test rows in one trial, open circles the errors that are printed for the end."""
