"""What the exercises of each lab look for: a module a lab, built on kvlib.grading.exercise."""
