# Everything is in make.py. Without make: python3 make.py book, test, labs, pdf or lab.
PYTHON ?= python3

.PHONY: book test labs pdf lab
book test labs pdf lab:
	@$(PYTHON) make.py $@ $(ARGS)
