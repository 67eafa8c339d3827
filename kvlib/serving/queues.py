"""Where every request stands: it waits, runs, or waits on the host; how it begins, forks and ends."""

from kvlib.checks import whole
from kvlib.errors import BadInput, RequestTooLarge, UnknownSequence
from kvlib.events import EventLog
from kvlib.memory import BlockManager
from kvlib.serving.request import Request, Sequence


class RequestQueues:
    """The requests of one memory: `waiting` hold nothing, `running` hold blocks, `swapped` hold blocks on the host.

    Each queue is in the order of arrival. At most `max_num_seqs` sequences run at once.
    """

    def __init__(self, manager: BlockManager, max_num_seqs: int, log: EventLog | None) -> None:
        self.manager = manager
        self.max_num_seqs = whole("max_num_seqs", max_num_seqs)
        self.log = log
        self.waiting: list[Request] = []
        self.swapped: list[Request] = []
        self.running: list[Request] = []
        self._owners: dict[str, Request] = {}  # of every sequence that has not ended, by its id
        self._num_added = 0

    def add(self, request: Request) -> None:
        """Queue a request. Raises RequestTooLarge for one that the empty pool could not hold to its end, and
        BadInput for an id that is in use, keys that cannot be those of its prompt, or a request that was added before.
        """
        name = request.request_id
        if name in self._owners or name in self.manager:
            raise BadInput(f"request id {name!r} is in use; choose another or wait until it has finished")
        if request.number:
            raise BadInput(f"{request} was added before; make a new Request")
        self._check_keys(name, request.sequences[0].keys, request.num_prompt_tokens)
        if self.log is not None and name in self.log.texts:
            raise BadInput(f"request id {name!r} is in the log already, with another text; choose another")
        if request.num_sequences > self.max_num_seqs:
            raise RequestTooLarge(
                f"request {name!r} has {request.num_sequences} sequences, which run together, and max_num_seqs is "
                f"{self.max_num_seqs}; ask for fewer or raise it"
            )
        num_tokens = request.num_prompt_tokens + request.max_tokens - 1  # the last is never fed back: no slot
        try:
            self.manager.check_fits(num_tokens, request.num_sequences, request.num_prompt_tokens)
        except RequestTooLarge as error:
            raise RequestTooLarge(
                f"request {name!r} ({request.num_prompt_tokens} prompt tokens, max_tokens "
                f"{request.max_tokens}) can never run: {error}"
            ) from None
        self._num_added += 1
        request.number = self._num_added
        self._owners[name] = request
        self.waiting.append(request)
        self._note("arrive", request)

    def __contains__(self, seq_id: object) -> bool:
        """Whether a request or a sequence with this id waits or runs."""
        return seq_id in self._owners

    def seq_ids(self, request_id: str) -> list[str]:
        """The ids of a request's sequences; none if it neither waits nor runs."""
        owner = self._owners.get(request_id)
        return [] if owner is None or owner.request_id != request_id else owner.seq_ids

    def held(self) -> list[Request]:
        """The requests that hold memory or stand in no queue: those that a step that fails may leave half done."""
        requests = dict.fromkeys(self._owners.values())
        return [
            request
            for request in requests
            if request not in self.waiting or any(seq_id in self.manager for seq_id in request.seq_ids)
        ]

    def free_unowned(self) -> None:
        """Take back the memory of sequences that no request has, as after a fork that was not finished."""
        for seq_id in self.manager.sequences:
            if seq_id not in self._owners:
                self.manager.free(seq_id)

    def has_unfinished(self) -> bool:
        """Whether any request waits or runs."""
        return bool(self._owners)

    def fork(self, request: Request, parent_id: str, child_id: str, keys: list | tuple = ()) -> Sequence:
        """Add a sequence that goes on from `parent_id` on its own, sharing all blocks with it so far.

        Raises BadInput if the parent's newest token is not computed yet, the request has all its sequences, the id
        is in use, or the keys are not those of its text.
        """
        parent = request.sequence(parent_id)
        if parent.num_computed < parent.num_tokens:
            raise BadInput(f"{parent} is not computed to its end; fork it before it is told its next token")
        if len(request.sequences) == request.num_sequences:
            raise BadInput(f"{request} has all its {request.num_sequences} sequences; drop one first or ask for more")
        if child_id in self._owners:
            raise BadInput(f"{child_id!r} is in use by {self._owners[child_id]}; choose another id for the sequence")
        self._check_keys(child_id, keys, parent.num_tokens)
        self.manager.fork(parent_id, child_id)
        child = Sequence(child_id, parent.num_tokens, parent.most_tokens, keys)
        child.num_computed = parent.num_computed
        request.sequences.append(child)
        self._owners[child_id] = request
        return child

    def drop(self, request: Request, seq_id: str) -> None:
        """End one of several sequences of a running request: a beam that is given up, a sample that is complete.

        Raises BadInput if it is the only one, or is being computed again: others may wait for what they share with it.
        """
        sequence = request.sequence(seq_id)
        if request not in self.running or len(request.sequences) == 1:
            raise BadInput(f"{request} does not run, or has no other sequence; finish or abort it instead")
        if seq_id in self.manager:  # one that has all its tokens may hold nothing any more
            if sequence.num_computed < self._num_stored(sequence):
                raise BadInput(f"{sequence} is being computed again; drop it once it is computed")
            self.manager.free(seq_id)
        request.sequences.remove(sequence)
        if seq_id != request.request_id:
            del self._owners[seq_id]

    def finish(self, request: Request, reason: str) -> None:
        """Take the memory of a running request back: it has ended, for the `reason` given.

        Raises UnknownSequence if it does not run.
        """
        if request not in self.running:
            raise UnknownSequence(f"{request} does not run; it has finished, or waits, and can be aborted")
        self.running.remove(request)
        self._end(request, reason)

    def abort(self, request_id: str) -> None:
        """Drop a request in whatever state it is. Raises UnknownSequence if it neither waits nor runs."""
        request = self._owners.get(request_id)
        if request is None or request.request_id != request_id:
            raise UnknownSequence(f"no request {request_id!r} waits or runs; it may have finished already")
        for queue in (self.running, self.swapped, self.waiting):
            if request in queue:
                queue.remove(request)
        self._end(request, "abort")

    def _end(self, request: Request, reason: str) -> None:
        self._free(request)
        for name in set(request.seq_ids) | {request.request_id}:  # its first sequence may have been dropped
            del self._owners[name]
        self._note("finish", request, reason=reason)

    def _free(self, request: Request) -> None:
        for seq_id in request.seq_ids:
            if seq_id in self.manager:  # one that waits holds nothing
                self.manager.free(seq_id)

    def _num_stored(self, sequence: Sequence) -> int:
        return self.manager.table(sequence.seq_id).num_tokens

    def _check_keys(self, name: str, keys: list | tuple, num_tokens: int) -> None:
        full = num_tokens // self.manager.block_size
        if not isinstance(keys, (list, tuple)) or len(keys) > full:
            raise BadInput(f"{name!r} has the keys {keys!r:.80}; give a list of one for each of its {full} full blocks")
        self.manager.pool.check_keys(keys)

    def _note(self, kind: str, request: Request, **fields: str) -> None:
        if self.log is not None:
            self.log.add(kind, seq=request.request_id, **fields)
