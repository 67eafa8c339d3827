# Everything is in make.py. Without make: python3 make.py book, test or labs.
PYTHON ?= python3

.PHONY: book test labs
book test labs:
	@$(PYTHON) make.py $@ $(ARGS)
