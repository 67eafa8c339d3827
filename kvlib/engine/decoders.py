"""The decoders of one engine: the model's own, and one for each adapter that a request has named."""

from typing import Any

from kvlib.errors import BadInput
from kvlib.models.adapters import LoRARequest, apply_adapter
from kvlib.models.decoder import Decoder
from kvlib.models.model import Model
from kvlib.shown import shown

NO_ADAPTER = 0


class Decoders:
    """Decoders by the number of their adapter; `NO_ADAPTER` is the model without one."""

    def __init__(self, model: Model) -> None:
        self._form = model.linear
        self._decoders: dict[int, Decoder] = {NO_ADAPTER: model.decoder}
        self._requests: dict[int, LoRARequest] = {}

    def __getitem__(self, adapter_id: int) -> Decoder:
        return self._decoders[adapter_id]

    def read(self, given: Any, count: int) -> list[int]:
        """The adapter numbers of `count` prompts: of one LoRARequest for all, or of a list with one or None for each.

        An adapter is read from its folder when it is first named, and kept. Raises BadInput for something else, or
        a number that another adapter has, and what `apply_adapter` raises.
        """
        requests = list(given) if isinstance(given, list | tuple) else [given] * count
        if not all(request is None or isinstance(request, LoRARequest) for request in requests):
            raise BadInput(f"lora_request is {shown(given)}; give a LoRARequest, or a list of them")
        if len(requests) != count:
            raise BadInput(f"{len(requests)} lora_requests for {count} prompts; give one for all or one for each")
        return [NO_ADAPTER if request is None else self._number(request) for request in requests]

    def _number(self, request: LoRARequest) -> int:
        number = request.lora_int_id
        known = self._requests.get(number)
        if known is None:
            self._decoders[number] = apply_adapter(self._decoders[NO_ADAPTER], request, self._form)
            self._requests[number] = request
        elif known != request:
            raise BadInput(f"lora_int_id {number} is that of {known}; give {request} a number of its own")
        return number
