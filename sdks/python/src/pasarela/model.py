"""Objects of the API and their JSON. Amounts are `Decimal`, times are aware `datetime`s; no number is ever a float."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, ClassVar, TypeVar, Union

from .generated import shared

#: What is taken for an amount. Never a float: 0.1 is none of the numbers that a float can be.
Amount = Union[Decimal, int, str]
#: What is taken for an instant: an aware datetime, or the text of one as RFC 3339 has it.
Instant = Union[datetime, str]

Self = TypeVar("Self", bound="Model")


def exact(amount: Amount) -> Decimal:
    """An amount as a Decimal. TypeError for a float, ValueError for what is no number."""
    if isinstance(amount, (bool, float)) or not isinstance(amount, (Decimal, int, str)):
        raise TypeError(shared.AMOUNT_TYPE.format(accepted="a Decimal, an int or a str", type=type(amount).__name__))
    try:
        number = Decimal(amount.strip() if isinstance(amount, str) else amount)
    except ArithmeticError:
        raise ValueError(shared.AMOUNT_FORM) from None
    if not number.is_finite():
        raise ValueError(shared.AMOUNT_FORM)
    return number


class Codec:
    """How a value is written and read. This one leaves it as it is."""

    def encode(self, value: Any) -> Any:
        return value

    def decode(self, value: Any) -> Any:
        return value


class NumberCodec(Codec):
    """A decimal that is a JSON number."""

    def encode(self, value: Any) -> Any:
        return exact(value)

    def decode(self, value: Any) -> Any:
        return Decimal(value)


class DecimalCodec(Codec):
    """A decimal that is a JSON string, padded to the decimals that the gateway wants. Digits are never cut."""

    def __init__(self, places: int | None = None) -> None:
        self.places = places

    def encode(self, value: Any) -> Any:
        number = exact(value)
        if self.places is not None and -int(number.as_tuple().exponent) < self.places:
            number = number.quantize(Decimal(1).scaleb(-self.places))
        return format(number, "f")

    def decode(self, value: Any) -> Any:
        return Decimal(value)


class TimeCodec(Codec):
    """An instant."""

    def encode(self, value: Any) -> Any:
        if not isinstance(value, datetime):
            return value
        if value.tzinfo is None:
            raise ValueError(shared.TIME_ZONE)
        return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def decode(self, value: Any) -> Any:
        return datetime.fromisoformat(value.replace("Z", "+00:00"))


class DateCodec(Codec):
    """A day."""

    def encode(self, value: Any) -> Any:
        return value.isoformat() if isinstance(value, date) else value

    def decode(self, value: Any) -> Any:
        return date.fromisoformat(value)


class ListCodec(Codec):
    def __init__(self, of: Codec) -> None:
        self.of = of

    def encode(self, value: Any) -> Any:
        return [self.of.encode(item) for item in value]

    def decode(self, value: Any) -> Any:
        return [self.of.decode(item) for item in value]


class ModelCodec(Codec):
    """One of some models, by name: the first whose required members are all there."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def encode(self, value: Any) -> Any:
        return value.to_json() if isinstance(value, Model) else value

    def decode(self, value: Any) -> Any:
        models = [MODELS[name] for name in self.names]
        fitting = (model for model in models if all(member in value for member in model._required))
        return next(fitting, models[0]).from_json(value)


VALUE, NUMBER, DECIMAL, TIME, DATE = Codec(), NumberCodec(), DecimalCodec(), TimeCodec(), DateCodec()
MODELS: dict[str, type[Model]] = {}


@dataclass(frozen=True)
class ResponseInfo:
    """What the answer said besides its body."""

    status: int
    request_id: str | None
    replayed: bool  # the kept answer of an earlier request with the same Idempotency-Key
    wal_seq: int | None  # the sequence of the durable record, if something was written


@dataclass(frozen=True, kw_only=True)
class Model:
    """An object of the API. Members that this version does not know are in `raw`."""

    raw: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    last_response: ResponseInfo | None = field(default=None, repr=False, compare=False)

    _wire: ClassVar[Mapping[str, tuple[str, Codec]]] = {}
    _required: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        MODELS[cls.__name__] = cls

    @classmethod
    def from_json(cls: type[Self], data: Mapping[str, Any]) -> Self:
        """Reads what `read_json` made. A missing member is None: an older server is no reason to lose the answer of a payment."""
        found = ((name, codec, data.get(wire)) for name, (wire, codec) in cls._wire.items())
        return cls(raw=data, **{name: None if value is None else codec.decode(value) for name, codec, value in found})

    def to_json(self) -> dict[str, Any]:
        """What `write_json` takes, without what is None."""
        return encode(self._wire, {name: getattr(self, name) for name in self._wire})


def encode(wire: Mapping[str, tuple[str, Codec]], values: Mapping[str, Any]) -> dict[str, Any]:
    """Members by their names on the wire; what is None is left out, which is what null means to the gateway."""
    given = ((wire[name], value) for name, value in values.items() if value is not None)
    return {name: codec.encode(value) for (name, codec), value in given}


def read_json(text: bytes | str) -> Any:
    """JSON with exact numbers: whole ones are int, others Decimal."""
    return json.loads(text, parse_float=Decimal)


def write_json(value: Any) -> str:
    """JSON in which a Decimal is the number that it is."""
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, Mapping):
        return "{" + ",".join(f"{json.dumps(str(name))}:{write_json(member)}" for name, member in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(write_json, value)) + "]"
    return json.dumps(value)
