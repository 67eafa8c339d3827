# Everything is in make.py. Without make: python3 make.py book, python3 make.py test.
PYTHON ?= python3

.PHONY: book test
book test:
	@$(PYTHON) make.py $@ $(ARGS)
