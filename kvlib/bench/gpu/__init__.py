"""`kvlib bench gpu`: the kernels proved and measured on the GPU at hand, in one file that the book plots as it is."""
