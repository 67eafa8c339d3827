"""Time and order: which requests run when. Standard library only, no tensor."""
