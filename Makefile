# Everything is in make.py. Without make: python3 make.py book, test, labs or pdf.
PYTHON ?= python3

.PHONY: book test labs pdf
book test labs pdf:
	@$(PYTHON) make.py $@ $(ARGS)
