from kvlib.native import library

collect_ignore = [] if library() else ["test_compiled.py", "test_linear.py"]
