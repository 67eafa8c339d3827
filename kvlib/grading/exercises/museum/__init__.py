"""The bug museum of lab 11: faults that engines had, planted in the code of this package, and who notices them."""
