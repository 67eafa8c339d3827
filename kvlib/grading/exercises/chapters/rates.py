"""Means over time, and time itself: the exercises of chapters 5, 10 and 12."""

from kvlib.chance import Chance
from kvlib.grading.exercises.sums import Case, sums


def _to_come(chance: Chance, number: int) -> Case:
    outputs = [1 + chance.below(12) for _ in range(3)] + [20 + chance.below(30)]
    steps, num_requests = sum(outputs), len(outputs)
    left = sum(o * (o - 1) // 2 for o in outputs)
    mistakes = {
        "Count iterations, not requests: one that writes longer counts more often.": sum((o - 1) / 2 for o in outputs)
        / num_requests,
        "In an iteration its token is written: it is not to come any more.": left / steps + 1,
        "The formula above is for long outputs; count token by token.": left / steps + 0.5,
        "Divide by all iterations, not by the requests.": left / num_requests,
        "Half of the mean output leaves out that long ones count more often.": steps / num_requests / 2,
    }
    return Case({"outputs": outputs}, left / steps, mistakes)


def _mean_running(chance: Chance, number: int) -> Case:
    until_s = 40.0 + chance.below(40)
    starts = [float(chance.below(30)) for _ in range(3 + chance.below(3))]
    stays = [(start, start + 3.0 + chance.below(9)) for start in starts]
    stays.append((until_s - 5 - chance.below(4), until_s + 10 + chance.below(20)))
    whole = [finish - start for start, finish in stays]
    inside = [min(finish, until_s) - start for start, finish in stays]
    last = max(finish for _, finish in stays)
    mistakes = {
        "What a request does after until_s does not count.": sum(whole) / until_s,
        "Who is still there at until_s has been there until then.": sum(inside[:-1]) / until_s,
        "Divide by the time, not by the requests.": sum(inside) / len(stays),
        "That is the mean stay; divide by the time, and leave out what is after until_s.": sum(whole) / len(stays),
        "The time is until_s, whenever the last one leaves.": sum(whole) / last,
        "That is how many came; how long they stay counts.": float(len(stays)),
    }
    return Case({"stays": stays, "until_s": until_s}, sum(inside) / until_s, mistakes)


def _gained(chance: Chance, number: int) -> Case:
    weights, token = 10_000 + chance.below(5000), 50 + chance.below(100)
    before = weights // token - 1 - chance.below(20) if number % 4 == 3 else 2 + chance.below(10)
    after = before * (2 + chance.below(3)) + chance.below(before)
    until_it_computes = weights // (token * before)  # new tokens, each sequence
    new = (1, until_it_computes + 100 + chance.below(300), until_it_computes, 1)[number % 4]
    computing = [count * new * token for count in (before, after)]
    one, other = (max(weights, each) for each in computing)

    def rates(one_us: float, other_us: float) -> float:
        return (after / other_us) / (before / one_us)

    mistakes = {
        "Reading and computing go on at the same time: the longer one counts, not the sum.": rates(
            weights + computing[0], weights + computing[1]
        ),
        "That is how much longer a pass takes; give tokens a second.": other / one,
        "That is how much faster a pass is; with more sequences it has more tokens, too.": one / other,
        "Each sequence brings num_new tokens to compute.": rates(
            max(weights, before * token), max(weights, after * token)
        ),
        "A pass that computes longer than it reads takes longer with more tokens.": after / before,
        "As long as reading takes longer, more tokens take no longer.": 1.0,
    }
    arguments = {"num_before": before, "num_after": after, "num_new": new, "weights_us": weights, "token_us": token}
    return Case(arguments, rates(one, other), mistakes)


TO_COME = sums("a mean over iterations, not over requests", _to_come)
MEAN_RUNNING = sums("the time of all stays inside the hour, over the hour", _mean_running)
GAINED = sums("tokens a second follow the longer of reading and computing", _gained)
