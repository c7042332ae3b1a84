"""The independent verifier: payoffs, best responses and regrets measured on the tree.

It reads the tree's nodes, not the sequence form, and shares no arithmetic with the kernels
that solvers use.
"""

from eqbench.verification.joint import JointVerification, verify_joint, verify_plan
from eqbench.verification.verifier import (
    BY_PRODUCTS,
    DEFAULT_TOLERANCE,
    UNRESOLVED,
    Allowance,
    Verification,
    Verifier,
    beyond_floats,
    certify,
    exact_refutation,
    means_of_measuring,
    refutation,
    verify,
    verify_exactly,
)

__all__ = [
    "BY_PRODUCTS",
    "DEFAULT_TOLERANCE",
    "UNRESOLVED",
    "Allowance",
    "JointVerification",
    "Verification",
    "Verifier",
    "beyond_floats",
    "certify",
    "exact_refutation",
    "means_of_measuring",
    "refutation",
    "verify",
    "verify_exactly",
    "verify_joint",
    "verify_plan",
]
