"""Dataclasses that cost little to declare: what a class needs is made when it is first used.

The standard library writes and compiles eight functions for each class, which takes a millisecond;
a check of one file declares a hundred classes and has a tenth of a second. Here only `__init__` is
compiled, when the first object is made; the rest is shared. Everything else is as `dataclasses`
has it, whose `fields`, `replace` and pattern matching work on these classes, too
(tests/test_dataclass.py). They inherit no fields from each other.

That frozen objects stay as they are is held by the type checker, and by the tests, which set
HOLD_FROZEN in the environment. Else setting the fields of a new one would take three times as
long, which was a tenth of a run.
"""

from __future__ import annotations

import os
from operator import attrgetter
from typing import TYPE_CHECKING

HOLD_FROZEN = "KUMAMIGRATE_HOLD_FROZEN"
"""The variable of the environment that makes frozen objects refuse changes."""

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import fields as fields
    from dataclasses import replace as replace
else:
    _set = object.__setattr__
    _become = object.__dict__["__class__"].__set__

    class _Missing:
        """Stands for a default that is not there."""

        def __repr__(self):
            return "<not given>"

    MISSING = _Missing()

    class Field:
        """What `field` says of one field."""

        __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")

        def __init__(
            self, *, default=MISSING, default_factory=MISSING, init=True, repr=True, compare=True
        ):
            self.default = default
            self.default_factory = default_factory
            self.init = init
            self.repr = repr
            self.compare = compare
            self.name = ""

    field = Field

    def fields(one):
        """Return the fields of a class or an object, in order."""
        said = getattr(one, "__declared__", None)
        if said is None:
            import dataclasses

            return dataclasses.fields(one)
        return tuple(said.values())

    def replace(one, /, **changes):
        """Return an object with other values in some fields."""
        fields = getattr(type(one), "__declared__", None)
        if fields is None:
            import dataclasses

            return dataclasses.replace(one, **changes)
        for name, said in fields.items():
            if said.init and name not in changes:
                changes[name] = getattr(one, name)
        return type(one)(**changes)

    def dataclass(cls=None, /, **options):
        """Make a class a dataclass; the options are those of `dataclasses.dataclass`."""
        if cls is None:
            return lambda decorated: _declared(decorated, **options)
        return _declared(cls, **options)

    def _declared(cls, *, frozen=False, slots=False, kw_only=False, eq=True, order=False):
        if any("__dataclass_fields__" in vars(above) for above in cls.__mro__[1:]):
            raise TypeError(f"{cls.__name__} would inherit fields; use the standard library's")
        fields = {name: _said(cls, name) for name in cls.__annotations__}
        for name, one in fields.items():
            one.name = name
        made = _slotted(cls, fields) if slots else _with_defaults(cls, fields)
        made.__declared__ = fields
        made.__declared_options__ = {"frozen": frozen, "kw_only": kw_only, "eq": eq, "order": order}
        made.__dataclass_fields__ = _Fields()
        made.__match_args__ = () if kw_only else tuple(n for n, one in fields.items() if one.init)
        held = frozen and HOLD_FROZEN in os.environ
        made.__init__ = _late_init(made, held=held)
        methods = {"__repr__": _repr, "__replace__": replace}
        compared = _getter(tuple(name for name, one in fields.items() if one.compare))
        if eq:
            methods |= _equality(compared)
            if cls.__dict__.get("__hash__") is None:
                made.__hash__ = _hash(compared) if frozen else None
        if order:
            methods |= _order(compared)
        if held:
            methods |= _frozen(made, fields)
        if slots:
            methods |= {"__getstate__": _getstate, "__setstate__": _setstate}
        for name in methods.keys() - cls.__dict__.keys():
            setattr(made, name, methods[name])
        return made

    def _said(cls, name):
        said = cls.__dict__.get(name, MISSING)
        if type(said).__hash__ is None:
            raise ValueError(f"the default of {name} can change; give it a default_factory")
        return said if isinstance(said, Field) else Field(default=said)

    def _slotted(cls, fields):
        kept = {
            name: value
            for name, value in cls.__dict__.items()
            if name not in fields and name not in ("__dict__", "__weakref__")
        }
        return type(cls)(cls.__name__, cls.__bases__, {**kept, "__slots__": tuple(fields)})

    def _with_defaults(cls, fields):
        for name, one in fields.items():
            if one.default is not MISSING:
                setattr(cls, name, one.default)
            elif name in cls.__dict__:
                delattr(cls, name)
        return cls

    class _Fields:
        """What `dataclasses` keeps of a class, made when somebody asks for it."""

        def __get__(self, one, cls):
            import dataclasses

            real = dataclasses.make_dataclass(
                cls.__name__,
                [
                    (name, cls.__annotations__[name], _as_real(said))
                    for name, said in cls.__declared__.items()
                ],
                **cls.__declared_options__,
            )
            cls.__dataclass_fields__ = real.__dataclass_fields__
            return cls.__dataclass_fields__

    def _as_real(said):
        import dataclasses

        words = {"init": said.init, "repr": said.repr, "compare": said.compare}
        if said.default is not MISSING:
            words["default"] = said.default
        if said.default_factory is not MISSING:
            words["default_factory"] = said.default_factory
        return dataclasses.field(**words)

    def _late_init(cls, *, held):
        def __init__(self, *given, **named):  # noqa: N807  # it is to be read as what it is
            cls.__init__ = _init(cls, held=held)
            cls.__init__(self, *given, **named)

        return __init__

    def _init(cls, *, held):
        """Return a function that takes the fields of a class and sets them."""
        given, lines, known = [], [], {"_set": _set, "_missing": MISSING}
        opened = held and "__slots__" in vars(cls)
        if opened:
            # As one of a class that refuses nothing the object is filled in half the time.
            known |= {"_become": _become, "_open": _open_twin(cls), "_class": cls}
            lines.append("  _become(self, _open)")
        for name, one in cls.__declared__.items():
            known[f"_default_{name}"] = one.default
            known[f"_make_{name}"] = one.default_factory
            value = name
            if one.default_factory is not MISSING:
                value = f"_make_{name}() if {name} is _missing else {name}"
            if not one.init:
                value = value.partition(" if ")[0] if "(" in value else f"_default_{name}"
            elif one.default_factory is not MISSING:
                given.append(f"{name}=_missing")
            else:
                given.append(name if one.default is MISSING else f"{name}=_default_{name}")
            by_force = held and not opened
            line = f"  _set(self, {name!r}, {value})" if by_force else f"  self.{name} = {value}"
            lines.append(line)
        if opened:
            lines.append("  _become(self, _class)")
        if "__post_init__" in cls.__dict__:
            lines.append("  self.__post_init__()")
        if cls.__declared_options__["kw_only"] and given:
            given.insert(0, "*")
        head = f" def __init__({', '.join(['self', *given])}):"
        text = "\n".join([f"def make({', '.join(known)}):", head, *(lines or ["  pass"])])
        names = {}
        exec(f"{text}\n return __init__", names)
        made = names["make"](**known)
        made.__qualname__ = f"{cls.__qualname__}.__init__"
        return made

    def _open_twin(cls):
        """Return a class with the same fields, whose objects take changes."""
        return type(cls.__name__, cls.__bases__, {"__slots__": tuple(cls.__declared__)})

    def _getter(names):
        return attrgetter(*names) if names else lambda _: ()

    def _repr(self):
        shown = (name for name, said in self.__declared__.items() if said.repr)
        words = ", ".join(f"{name}={getattr(self, name)!r}" for name in shown)
        return f"{type(self).__qualname__}({words})"

    def _equality(compared):
        def __eq__(self, other):  # noqa: N807
            if other is self:
                return True
            if other.__class__ is self.__class__:
                return compared(self) == compared(other)
            return NotImplemented

        return {"__eq__": __eq__}

    def _hash(compared):
        return lambda self: hash(compared(self))

    def _order(compared):
        def by(name):
            test = getattr(tuple, name)

            def method(self, other):
                if other.__class__ is self.__class__:
                    return test(_several(compared(self)), _several(compared(other)))
                return NotImplemented

            return method

        def _several(found):
            return found if isinstance(found, tuple) else (found,)

        return {name: by(name) for name in ("__lt__", "__le__", "__gt__", "__ge__")}

    def _frozen(cls, fields):
        def __setattr__(self, name, value):  # noqa: N807
            if type(self) is cls or name in fields:
                raise _frozen_error(f"cannot assign to field {name!r}")
            super(cls, self).__setattr__(name, value)

        def __delattr__(self, name):  # noqa: N807
            if type(self) is cls or name in fields:
                raise _frozen_error(f"cannot delete field {name!r}")
            super(cls, self).__delattr__(name)

        return {"__setattr__": __setattr__, "__delattr__": __delattr__}

    def _frozen_error(message):
        from dataclasses import FrozenInstanceError

        return FrozenInstanceError(message)

    def _getstate(self):
        return [getattr(self, name) for name in self.__declared__]

    def _setstate(self, state):
        for name, value in zip(self.__declared__, state, strict=True):
            _set(self, name, value)
