"""The types of Elasticsearch's specification, as its JavaScript client declares them (lib/api/types.d.ts), and what
of a JSON value does not fit its type.

A type is a tuple: ("name", NAME, ARGUMENTS), ("literal", VALUE), ("array", ITEM), ("tuple", ITEMS), ("union", TYPES), ("both", TYPES),
("object", {MEMBER: (IS_OPTIONAL, TYPE)}, INDEX) or ("interface", NAME, BASES, OBJECT)."""
import json
import re

TOKEN = re.compile(r"\s+|/\*.*?\*/|//[^\n]*|(?P<token>'(?:[^'\\]|\\.)*'|[A-Za-z_$][\w$]*|-?\d+(?:\.\d+)?|=>|[{}\[\]<>()|&?:;,=.*@-])", re.S)
WHOLE = {"integer", "long", "short", "byte", "uint", "ulong", "ubyte"}
REAL = {"double", "float", "number"}
MISSING, WRONG, UNKNOWN = "missing", "wrong", "unknown"
# What a finding costs when the type of a union is chosen that fits best.
COST = {MISSING: 10, WRONG: 10, UNKNOWN: 1}
DEPTH_MAX = 200
# Names of aggregations before `#`, where the type has another one.
VARIANTS = {
    "sterms": "StringTerms", "lterms": "LongTerms", "dterms": "DoubleTerms", "umterms": "UnmappedTerms", "srareterms": "StringRareTerms",
    "lrareterms": "LongRareTerms", "umrareterms": "UnmappedRareTerms", "sigsterms": "SignificantStringTerms",
    "siglterms": "SignificantLongTerms", "umsigterms": "UnmappedSignificantTerms",
}


def parse(text):
    """Reads all declarations: {NAME: ([(PARAMETER, DEFAULT)], TYPE)}."""
    return Parser([match["token"] for match in TOKEN.finditer(text) if match["token"]]).declarations()


class Parser:
    def __init__(self, tokens):
        self.tokens = tokens
        self.at = 0

    def peek(self, ahead=0):
        at = self.at + ahead
        return self.tokens[at] if at < len(self.tokens) else None

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted and token != wanted:
            raise ValueError(f"{wanted} is expected at {self.tokens[max(self.at - 10, 0):self.at + 5]}")
        self.at += 1
        return token

    def accepts(self, token):
        found = self.peek() == token
        self.at += found
        return found

    def declarations(self):
        named = {}
        while self.at < len(self.tokens):
            self.take("export")
            self.accepts("declare")
            kind, name, parameters = self.take(), self.take(), self.parameters()
            if kind == "interface":
                bases = []
                if self.accepts("extends"):
                    bases.append(self.primary())
                    while self.accepts(","):
                        bases.append(self.primary())
                named[name] = parameters, ("interface", name, bases, self.object())
            else:
                self.take("=")
                named[name] = parameters, self.type()
            self.accepts(";")
        return named

    def parameters(self):
        found = []
        if self.accepts("<"):
            while not self.accepts(">"):
                name, default = self.take(), ("name", "any", [])
                if self.accepts("extends"):
                    self.type()
                if self.accepts("="):
                    default = self.type()
                found.append((name, default))
                self.accepts(",")
        return found

    def object(self):
        self.take("{")
        members, index = {}, None
        while not self.accepts("}"):
            if self.accepts("["):
                while not self.accepts("]"):
                    self.take()
                self.take(":")
                index = self.type()
            else:
                name, is_optional = self.take().strip("'"), self.accepts("?")
                self.take(":")
                members[name] = is_optional, self.type()
            if not self.accepts(";"):
                self.accepts(",")
        return "object", members, index

    def several(self, separator, inner, kind):
        self.accepts(separator)
        parts = [inner()]
        while self.accepts(separator):
            parts.append(inner())
        return parts[0] if len(parts) == 1 else (kind, parts)

    def type(self):
        return self.several("|", lambda: self.several("&", self.primary, "both"), "union")

    def primary(self):
        token = self.peek()
        if token == "(":
            self.take()
            found = self.type()
            self.take(")")
        elif token == "{":
            found = self.object()
        elif token == "[":
            self.take()
            items = []
            while not self.accepts("]"):
                items.append(self.type())
                self.accepts(",")
            found = "tuple", items
        elif token[0] == "'":
            found = "literal", self.take()[1:-1]
        elif re.match(r"-?\d", token):
            found = "literal", json.loads(self.take())
        else:
            name, arguments = self.take(), []
            if self.accepts("<"):
                while not self.accepts(">"):
                    arguments.append(self.type())
                    self.accepts(",")
            found = "name", name, arguments
        while self.peek() == "[" and self.peek(1) == "]":
            self.at += 2
            found = "array", found
        return found


class Checker:
    """Compares values with types. Findings are (KIND, PATH, TEXT)."""

    def __init__(self, named):
        self.named = named
        self.depth = 0
        by_lower_case = {name.lower(): name for name in named if name.startswith("Aggregations") and name.endswith("Aggregate")}
        self.variant = lambda name: by_lower_case.get(f"aggregations{VARIANTS.get(name, name.replace('_', ''))}aggregate".lower())

    def resolve(self, name, arguments):
        parameters, body = self.named[name]
        given = {parameter: arguments[at] if at < len(arguments) else default for at, (parameter, default) in enumerate(parameters)}
        return substitute(body, given)

    def members(self, kind):
        """The members of an object's type and the type of all others, or None."""
        if kind[0] == "object":
            return dict(kind[1]), kind[2]
        if kind[0] in ("interface", "both"):
            members, index = {}, None
            for part in [*kind[2], kind[3]] if kind[0] == "interface" else kind[1]:
                found = self.members(part)
                if found:
                    members.update(found[0])
                    index = found[1] or index
            return members, index
        if kind[0] == "name":
            if kind[1] == "Partial":
                members, index = self.members(kind[2][0])
                return {name: (True, inner) for name, (_, inner) in members.items()}, index
            if kind[1] == "Record":
                return {}, kind[2][1]
            if kind[1] in self.named:
                return self.members(self.resolve(kind[1], kind[2]))
        return None

    def check(self, kind, value, path=""):
        self.depth += 1
        try:
            return [] if self.depth > DEPTH_MAX else self.check_here(kind, value, path)
        finally:
            self.depth -= 1

    def check_here(self, kind, value, path):
        wrong = [(WRONG, path, f"{show(kind)} <- {json.dumps(value)[:80]}")]
        if kind[0] == "literal":
            return [] if value == kind[1] else wrong
        if kind[0] == "array":
            return [x for item in value for x in self.check(kind[1], item, f"{path}[]")] if isinstance(value, list) else wrong
        if kind[0] == "tuple":
            if not isinstance(value, list) or len(value) != len(kind[1]):
                return wrong
            return [x for inner, item in zip(kind[1], value) for x in self.check(inner, item, f"{path}[]")]
        if kind[0] == "union":
            tried = [self.check(part, value, path) for part in kind[1]]
            is_here = lambda found: any(finding[:2] == (WRONG, path) for finding in found)
            best = min(tried, key=lambda found: (is_here(found), sum(COST[finding[0]] for finding in found)))
            return wrong if is_here(best) else best
        if kind[0] == "name" and not self.is_object(kind):
            return self.check_named(kind[1], kind, value, path, wrong)
        return self.check_object(kind, value, path) if isinstance(value, dict) else wrong

    def is_object(self, kind):
        return kind[1] in ("Record", "Partial")

    def check_named(self, name, kind, value, path, wrong):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        scalars = {
            "string": isinstance(value, str), "boolean": isinstance(value, bool), "null": value is None,
            **{whole: is_number and isinstance(value, int) for whole in WHOLE}, **{real: is_number for real in REAL},
        }
        if name in scalars:
            return [] if scalars[name] else wrong
        if name in ("true", "false"):
            return [] if value is (name == "true") else wrong
        if name not in self.named:
            return []
        return self.check(self.resolve(name, kind[2]), value, path)

    def check_object(self, kind, value, path):
        members, index = self.members(kind)
        found = []
        for name, (is_optional, inner) in members.items():
            if name in value:
                found += self.check(inner, value[name], f"{path}.{name}")
            elif not is_optional:
                found.append((MISSING, f"{path}.{name}", show(inner)))
        for name in value.keys() - members.keys():
            variant = self.variant(name.split("#")[0]) if "#" in name else None
            if variant:
                found += self.check(("name", variant, []), value[name], f"{path}.{name}")
            elif index is None:
                found.append((UNKNOWN, f"{path}.{name}", f"in {show(kind)}"))
            elif "#" not in name:
                found += self.check(index, value[name], f"{path}.{name}")
        return found


def substitute(kind, given):
    if not given:
        return kind
    again = lambda inner: substitute(inner, given)
    if kind[0] == "name":
        return given[kind[1]] if kind[1] in given and not kind[2] else ("name", kind[1], list(map(again, kind[2])))
    if kind[0] in ("union", "both", "tuple"):
        return kind[0], list(map(again, kind[1]))
    if kind[0] == "array":
        return "array", again(kind[1])
    if kind[0] == "object":
        return "object", {name: (is_optional, again(inner)) for name, (is_optional, inner) in kind[1].items()}, kind[2] and again(kind[2])
    if kind[0] == "interface":
        return "interface", kind[1], list(map(again, kind[2])), again(kind[3])
    return kind


def show(kind):
    if kind[0] == "literal":
        return repr(kind[1])
    if kind[0] == "array":
        return f"{show(kind[1])}[]"
    if kind[0] in ("union", "both", "tuple"):
        return {"union": " | ", "both": " & ", "tuple": ", "}[kind[0]].join(map(show, kind[1]))[:200]
    if kind[0] == "object":
        return f"{{{', '.join(kind[1])}}}"
    return kind[1]
