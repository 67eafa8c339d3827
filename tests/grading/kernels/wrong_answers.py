"""Known wrong answers: exercise: {fault: (edits of the model answer, words of the verdict)}."""

# fmt: off

V_MASK = "tl.load(value_cache + at, mask={}[:, None], other=0)"

WRONG = {
    "first": {
        "values not masked": ([(V_MASK.format("filled"), "tl.load(value_cache + at)")], "sequence 1 (5 tokens"),
        "score of empty slots not masked": (
            [("tl.where(filled, tl.exp(tl.sum(key * row[None, :], 1) * scale), 0.0)",
              "tl.exp(tl.sum(key * row[None, :], 1) * scale)")],
            "slots without a token weigh too",
        ),
        "logical block for the physical": (
            [("block = tl.load(table + logical_block)", "block = logical_block")],
            "block 0, which belongs to nobody, is read",
        ),
        "table of another sequence": (
            [("block_tables + sequence * table_row", "block_tables")], "row of its own sequence"
        ),
        "turns rounded down": (
            [("tl.cdiv(context_len, BLOCK_SIZE)", "context_len // BLOCK_SIZE")],
            "all its 5 tokens are left out; round the number of turns up"
        ),
        "one turn too many, nothing masked": (
            [("tl.cdiv(context_len, BLOCK_SIZE)", "tl.cdiv(context_len, BLOCK_SIZE) + 1"),
             (", mask=filled[:, None], other=0", "")],
            "outside all of its arguments",
        ),
        "scale left out": ([(", 1) * scale", ", 1)")], "the scale is left out"),
        "wrong KV head": ([("head // GROUP", "head % GROUP")], "it belongs to KV head 0"),
        "not divided": ([("weighted / tl.where(total > 0, total, 1.0)", "weighted")], "not divided by their sum"),
        "zero by zero": ([("tl.where(total > 0, total, 1.0)", "total")], "the sum of its weights is 0"),
        "only the last block": (
            [("weighted += ", "weighted = "), ("total += ", "total = ")], "of all tokens only 32 to 39 count"
        ),
        "exp2": ([("tl.exp(", "tl.exp2(")], "tl.exp2 stands for tl.exp"),
        "stored every turn": (
            [("        weighted += tl.sum(weight[:, None] * value, 0)\n",
              "        weighted += tl.sum(weight[:, None] * value, 0)\n        tl.store(output + place, weighted)\n")],
            "is written 2 times",
        ),
        "half a row": (
            [("tl.store(output + place, attended)", "tl.store(output + place, attended, mask=dim < 8)")],
            "not written in full; each row must be written once",
        ),
        "a row of zeros written over the query": (
            [("tl.store(output + place, attended)",
              "tl.store(output + place, attended)\n    tl.store(query + place, attended)")],
            "writes into query",
        ),
        "rows of another program": (
            [("tl.load(query + place)", "tl.load(query + (place + HEAD_SIZE) % (16 * HEAD_SIZE))")],
            "has the row of head 1 of sequence 0",
        ),
        "a name that is not there": (
            [("tl.cdiv(context_len", "tl.cdiv(context_length")],
            "`for logical_block in range(tl.cdiv(context_length, BLOCK_SIZE)):`: name",
        ),
        "keys and values not masked": (
            [(", mask=filled[:, None], other=0", "")], "which holds no token, is read too, and even 0 * NaN is NaN"
        ),
        "one turn too few": (
            [("(context_len, BLOCK_SIZE))", "(context_len, BLOCK_SIZE) - 1)")],
            "all its 16 tokens are left out; round the number of turns up",
        ),
        "the first block left out": (
            [("range(tl.cdiv(", "range(1, tl.cdiv(")], "all its 16 tokens are left out"
        ),
        "head for KV head": ([("head // GROUP", "head")], "KV head 1 is read; it belongs to KV head 0, head // GROUP"),
        "block for the first slot of a block": (
            [("block * BLOCK_SIZE + offset", "block + offset")], "is read in place of its own tokens; look at how slots"
        ),
        "rows of another size": ([("slot * slot_row", "slot * HEAD_SIZE")], "in place of its own tokens"),
        "values from the cache of keys": ([("tl.load(value_cache", "tl.load(key_cache")], "not one value is read"),
        "no exp": ([("tl.exp(tl.sum(key * row[None, :], 1) * scale)", "tl.sum(key * row[None, :], 1) * scale")],
                   "the scores themselves are the weights"),
        "weights along the wrong axis": (
            [("weight[:, None] * value", "weight * value")],
            "`weighted += tl.sum(weight * value, 0)`: Cannot make_shape_compatible",
        ),
        "sums along the wrong axis": ([("row[None, :], 1)", "row[None, :], 0)")],
                                      "`weight = tl.where(filled, tl.exp(tl.sum(key * row[None, :], 0)"),
        "weights along both axes": (
            [("tl.sum(weight, 0)", "tl.sum(weight, 0) + tl.sum(weight, 0)")],
            "is 0.5 times the right row: it is not divided by the sum of its own weights",
        ),
        "a loop without an end": (
            [("    attended =", "    while context_len > 0:\n        total += 1\n    attended =")],
            "program (0, 0, 0) of first_kernel did 30,000 steps and had no end; what ends the loop has to change",
        ),
        "grid the other way round": (
            [("[(num_seqs, num_heads)]", "[(num_heads, num_seqs)]")], "does the grid fit, 6 x 4 programs"
        ),
        "the kernel itself": (
            [("def first(**inputs)", "def launch(**inputs)"), ("    first_kernel[", "    first_kernel["),
             ("(**arguments(**inputs))", "(**arguments(**inputs))\n\n\nfirst = first_kernel")],
            "first_kernel is a kernel; give the function that launches it",
        ),
        "other names": (
            [("def first(**inputs)", "def first(q, k, v, **inputs)")],
            "The check calls first(query=..., key_cache=..., value_cache=..., block_tables=..., context_lens=..., "
            "output=..., scale=...), all by name, and of yours Python says: missing a required argument: 'q'",
        ),
    },
    "online": {
        "the total begins as an int": (
            [("tl.float32), 0.0", "tl.float32), 0")],
            "total of online_kernel is an int before the loop and a float in it; a GPU's compiler refuses that, so "
            "begin with total = 0.0",
        ),
        "no maximum": (
            [("tl.exp(score - new_maximum)", "tl.exp(score)"), ("tl.exp(maximum - new_maximum)", "1.0")],
            "subtract the largest score",
        ),
        "weighted values not rescaled": (
            [("weighted = weighted * rescale", "weighted = weighted")], "weighted values are not rescaled"
        ),
        "total not rescaled": ([("total = total * rescale", "total = total")], "the total is not rescaled"),
        "nothing rescaled": (
            [("rescale = tl.exp(maximum - new_maximum)", "rescale = 1.0")], "weighted values and the total are not"
        ),
        "maximum of this turn alone": (
            [("tl.maximum(maximum, tl.max(score, 0))", "tl.max(score, 0)")], "e to more than 88 is infinite"
        ),
        "masked scores are zero": ([('* scale, float("-inf"))', "* scale, 0.0)")], "slots without a token weigh too"),
        "the maximum begins at 0": (
            [('float("-inf")  # new', "0.0  # new")], "is zero: its largest score is -1446; begin the maximum at -inf"
        ),
        "the maximum begins at -1000": ([('float("-inf")  # new', "-1000.0  # new")], "begin the maximum at -inf"),
        "the maximum begins at 0, and the sum is not guarded": (
            [('float("-inf")  # new', "0.0  # new"), ("tl.where(total > 0, total, 1.0)", "total")],
            "so no token has any weight; begin the maximum at -inf",
        ),
        "rescaled the other way": (
            [("tl.exp(maximum - new_maximum)", "tl.exp(new_maximum - maximum)")],
            "though no slot was read but those of its tokens: inf * 0 is NaN; rescale is e to (old maximum - new",
        ),
        "weights with the old maximum": (
            [("tl.exp(score - new_maximum)", "tl.exp(score - maximum)")], "and weights use the new one"
        ),
        "one turn too few": (
            [("(context_len, BLOCK_SIZE))", "(context_len, BLOCK_SIZE) - 1)")],
            "all its 5 tokens are left out; round the number of turns up",
        ),
    },
    "tiled": {
        "offset in the block forgotten": ([(" + position % BLOCK_SIZE", "")], "look at how slots are made"),
        "one token a turn": ([("TOKENS=16", "TOKENS=1")], "It takes 40 turns for 40 tokens"),
        "table read past its end": (
            [("position // BLOCK_SIZE, mask=seen, other=0)", "position // BLOCK_SIZE)")], "outside all of its arguments"
        ),
        "block by shift": ([("position // BLOCK_SIZE", "(position >> 4)")], "program (0, 0, 0)"),
        "the last tile left out": (
            [("range(0, context_len, TOKENS)", "range(0, context_len // TOKENS * TOKENS, TOKENS)")],
            "the last 2 tokens are left out",
        ),
        "the maximum begins at 0": ([('float("-inf")\n    for', "0.0\n    for")], "begin the maximum at -inf"),
        "rescaled the other way": (
            [("tl.exp(maximum - new_maximum)", "tl.exp(new_maximum - maximum)")], "rescale is e to (old maximum - new"
        ),
        "head for KV head": ([("head // GROUP", "head")], "whose KV head it is, head // GROUP"),
        "keys and values not masked": (
            [(", mask=seen[:, None], other=0", "")], "block 0, which belongs to nobody, is read too, and even 0 * NaN"
        ),
        "turns of a block": (
            [("range(0, context_len, TOKENS)", "range(0, context_len, BLOCK_SIZE)")],
            "16 of its 50 tokens are left out, token 16 first; a turn begins where the one before it ends",
        ),
        "nothing rescaled": (
            [("rescale = tl.exp(maximum - new_maximum)", "rescale = 1.0")],
            "weighted values and the total are not rescaled",
        ),
        "blocks of TOKENS": (
            [("block * BLOCK_SIZE", "block * TOKENS")], "is read in place of its own tokens; look at how slots are made"
        ),
        "the place in a block by TOKENS": (
            [("position % BLOCK_SIZE", "position % TOKENS")],
            "16 of its 50 tokens are left out, token 16 first; look at how slots"
        ),
        "a turn for each token": (
            [("range(0, context_len, TOKENS)", "range(0, context_len)")], "is read 16 times for it; each turn"
        ),
        "turns for positions": (
            [("range(0, context_len, TOKENS)", "range(tl.cdiv(context_len, TOKENS))")],
            "the last 31 tokens are left out; round the number of turns up",
        ),
    },
    "grouped": {
        "the row that is nobody's is stored": ([("attended, mask=mine)", "attended)")],
                                               "Is each load and store masked where a row is nobody's"),
        "groups of ROWS heads": ([("kv_head * GROUP + row", "kv_head * ROWS + row")], "outside all of its arguments"),
        "maximum of the whole tile": (
            [("tl.max(score, 1)", "tl.max(score)"), ("new_maximum[:, None]", "new_maximum"),
             ('tl.full([ROWS], float("-inf"), tl.float32)', 'float("-inf")'), ("rescale[:, None]", "rescale")],
            "each head needs a maximum of its own",
        ),
        "columns for rows": ([("tl.where(seen[None, :], score", "tl.where(seen[:, None], score")], "It raises"),
        "values not masked": ([(V_MASK.format("seen"), "tl.load(value_cache + at)")], "is NaN"),
        "the maximum begins at 0": (
            [('tl.full([ROWS], float("-inf"), tl.float32)', "tl.zeros([ROWS], tl.float32)")],
            "begin the maximum at -inf",
        ),
        "rescaled the other way": (
            [("tl.exp(maximum - new_maximum)", "tl.exp(new_maximum - maximum)")], "rescale is e to (old maximum - new"
        ),
        "the group of a KV head": (
            [("kv_head * HEAD_SIZE", "kv_head // GROUP * HEAD_SIZE")], "KV head 0 is read; it belongs to KV head 1"
        ),
        "keys not transposed": ([("tl.trans(key)", "key")], "`score = tl.dot(rows, key,"),
        "one sum for all heads": (
            [("tl.sum(weight, 1)", "tl.sum(weight)")], "times the right row: it is not divided by the sum of its own"
        ),
        "query not masked": ([("place, mask=mine, other=0)", "place)")], "Is each load and store masked"),
    },
    "combine": {
        "mean of the parts": (
            [("weight = tl.exp(log_sum - tl.where(largest == float(\"-inf\"), 0.0, largest))",
              "weight = tl.where(there, 1.0, 0.0)")],
            "every split has the same weight",
        ),
        "sum of the parts": (
            [("weight = tl.exp(log_sum - tl.where(largest == float(\"-inf\"), 0.0, largest))",
              "weight = tl.where(there, 1.0, 0.0)"), ("tl.where(total > 0, total, 1.0)", "1.0")],
            "the parts are added up",
        ),
        "not divided": ([("tl.where(total > 0, total, 1.0)", "1.0")], "not divided by their sum"),
        "largest not subtracted": (
            [("tl.exp(log_sum - tl.where(largest == float(\"-inf\"), 0.0, largest))", "tl.exp(log_sum)")],
            "subtract the largest first",
        ),
        "no split has a token": (
            [("tl.where(largest == float(\"-inf\"), 0.0, largest)", "largest")], "no split has a token"
        ),
        "splits past the last": (
            [("mask=there, other=float(\"-inf\"))", "mask=split < num_splits + 3, other=float(\"-inf\"))")],
            "outside all of its arguments",
        ),
        "places past the last split count": (
            [('mask=there, other=float("-inf"))', "mask=there, other=0)")], "places past the last split weigh too"
        ),
        "places past the last split have no other": (
            [('mask=there, other=float("-inf"))', "mask=there)")], "places past the last split weigh too"
        ),
        "nothing masked": (
            [(", mask=there[:, None], other=0", "")], "Is each load and store masked where a row is nobody's"
        ),
    },
    "split": {
        "a split reads to the end": (
            [("tl.minimum(context_len, begin + split_len)", "context_len")], "a split reads on to the end"
        ),
        "the last tile reads on": (
            [("seen = position < end", "seen = position < context_len")], "the last tile of a split reads into the next"
        ),
        "a program leaves early": (
            [("    weighted, total = tl.zeros",
              "    if begin >= context_len:\n        return\n    weighted, total = tl.zeros")],
            "reads log_sums[1, 0, 0], and no program wrote it; each program stores its part and its log sum",
        ),
        "maximum forgotten": ([("maximum + tl.log(safe)", "tl.log(safe)")], "a log sum is log(total) alone"),
        "total forgotten": ([("maximum + tl.log(safe)", "maximum")], "a log sum is the maximum alone"),
        "parts not divided": ([("weighted / safe[:, None]", "weighted")], "not divided by their sum"),
        "one split whatever is asked": (
            [("split(query, key_cache, output, num_splits, max_context_len, **inputs):",
              "split(query, key_cache, output, num_splits, max_context_len, **inputs):\n    num_splits = 1")],
            "one program still reads 70 tokens",
        ),
        "the maximum begins at 0": (
            [('tl.full([ROWS], float("-inf"), tl.float32)', "tl.zeros([ROWS], tl.float32)")],
            "begin the maximum at -inf",
        ),
        "log sums not masked": ([("log_sum, mask=row < GROUP)", "log_sum)")], "Is each load and store masked"),
        "parts not masked": ([("safe[:, None], mask=mine)", "safe[:, None])")], "Is each load and store masked"),
        "query not masked": ([("place, mask=mine, other=0)", "place)")], "Is each load and store masked"),
        "nothing masked that is nobody's": (
            [("log_sum, mask=row < GROUP)", "log_sum)"), ("safe[:, None], mask=mine)", "safe[:, None])"),
             ("place, mask=mine, other=0)", "place)")],
            "Is each load and store masked where a row is nobody's",
        ),
        "table not masked": (
            [("position // BLOCK_SIZE, mask=seen, other=0)", "position // BLOCK_SIZE)")], "It leaves its memory"
        ),
        "nothing written": (
            [("    tl.store(log_sums", "    return\n    tl.store(log_sums")],
            "and no program wrote it; each program stores its part and its log sum",
        ),
        "no log sums": (
            [("    tl.store(log_sums + part, log_sum, mask=row < GROUP)  # new\n", "")],
            "combine_kernel reads log_sums[0, 0, 0], and no program wrote it",
        ),
        "sequence forgotten": (
            [("head = kv_head * GROUP + row", "head = kv_head * GROUP + row - sequence * num_heads")],
            "both write",
        ),
        "the context's end forgotten": (
            [("tl.minimum(context_len, begin + split_len)", "begin + split_len")],
            "from no further than the context reaches",
        ),
        "each split from the beginning": (
            [("range(begin, end", "range(0, end")], "begins where the one before it ends"
        ),
        "parts of another layout": (
            [("(sequence * num_heads + head) * num_splits + split  # new",
              "(sequence * num_splits + split) * num_heads + head  # new")],
            "is wrong",
        ),
        "parts where step 4 has its rows": ([("output + part[:, None] * HEAD_SIZE + dim[None, :]", "output + place")],
                                            "both write parts["),
    },
}  # fmt: skip
