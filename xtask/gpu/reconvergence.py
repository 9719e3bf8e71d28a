"""Finds plane operations that part of a plane may miss, in the CUDA C++ that CubeCL writes.

From Volta on, the units of a plane that part at a branch need not come together after it, unless `__syncwarp` or
`__syncthreads` says so. CubeCL writes `__shfl_sync(__activemask(), …)`, which takes the units that are there. A simulator
that always brings units together cannot show what goes wrong.

A value *varies* if units of one plane may have different ones. It comes from a unit's position, from memory at an address
that varies, from a word of other cubes, or from an assignment in a branch that not all units of a plane take. It is a
fault if a plane operation stands in a branch or a loop whose condition varies, or after one without a synchronisation.

Each name is assigned once, and a unit's variables are reached through pointers:

```text
uint32_t v9_store;  uint32_t * v9 = &v9_store;  *v9 = v3;
bool const v7 = v5 < v6;
while([&]{ …; return v7; }()) { … }
uint32_t const v8 = [&]{ … }();                             an access to a word of other cubes
```
"""

import re

# Statements that do not end with the next semicolon.
FORMS = re.compile(
    r"if\((?P<branch>\w+)\) \{|(?P<otherwise>else) \{|(?P<condition>while)\(\[&\]\{|(?P<body>\}\(\)\)) \{"
    r"|for\((?P<loop>[^)]*)\) \{|[\w ]+ const (?P<word>\w+) = \[&\]\{.*?\}\(\);|(?P<end>\})",
    re.DOTALL,
)
NAME = re.compile(r"(?:inv_break_flag_)?v\d+(?:_store)?|threadIdx")
PLANE_OPERATION = re.compile(r"__(?:shfl\w*|ballot|all|any)_sync\(")
SYNCHRONISATION = re.compile(r"__sync(?:warp|threads)\(\)")
# Operations whose result all units of a plane get, and a shuffle, whose result they all get if its lane does not vary.
VOTE = re.compile(r"__(?:ballot|all|any)_sync\(")
BROADCAST = re.compile(r"__shfl_sync\(__activemask\(\), \w+, (\w+)\)")
ATOMIC = re.compile(r"\batomic\w+\(")
PLANE_SIZES = ("32", "warpSize")


def statements(text):
    """The statements, each after the name of its form."""
    at = 0
    while at < len(text):
        form = FORMS.match(text, at)
        if form:
            yield form.lastgroup, form.group(form.lastgroup)
            at = form.end()
        elif text[at].isspace():
            at += 1
        else:
            end = text.index(";", at)
            yield "plain", text[at:end]
            at = end + 1


def tree(rest):
    """The statements up to the end of a block. A branch or a loop is `(form, condition, parts)`, where a part is a list of
    statements: of a branch what it does and else, of a loop what gives its condition and its body."""
    nodes = []
    for form, text in rest:
        if form in ("end", "body"):
            break
        if form == "branch":
            nodes.append((form, text, [tree(rest), []]))
        elif form == "otherwise":
            nodes[-1][2][1] = tree(rest)
        elif form == "condition":
            condition = tree(rest)
            nodes.append(("loop", condition[-1][1], [condition, tree(rest)]))
        elif form == "loop":
            # The variable's first value and its step are assigned; `<` compares it.
            nodes += [("plain", part.replace("+=", "=")) for part in text.split("; ")[::2]]
            nodes.append((form, text.split("; ")[1], [[], tree(rest)]))
        else:
            nodes.append((form, text))
    return nodes


class Kernel:
    def __init__(self, source):
        body = source[source.index('extern "C"') :].partition("{")[2]
        self.nodes = tree(statements(body))
        self.varying = {"threadIdx"}
        # Names of the unit's position in its cube, and of the size of a plane.
        self.positions, self.sizes = set(), set()
        # The variable or array of a unit that a pointer reaches.
        self.reached = {}
        known = -1
        while known < len(self.varying):
            known = len(self.varying)
            self.learn(self.nodes, False)

    def varies(self, value):
        if VOTE.search(value):
            return False
        if ATOMIC.search(value):
            return True
        if broadcast := BROADCAST.search(value):
            return broadcast.group(1) in self.varying
        plane = re.fullmatch(r"(\w+) / (\w+)", value)
        if plane and plane.group(1) in self.positions and plane.group(2) in self.sizes:
            return False
        return any(name in self.varying or self.reached.get(name) in self.varying for name in NAME.findall(value))

    def learn(self, nodes, is_parted):
        """Collects what varies. `is_parted`: in a branch that not all units of a plane take."""
        for form, text, *parts in nodes:
            if parts:
                for part in parts[0]:
                    self.learn(part, is_parted or self.varies(text))
            elif form == "word":
                self.varying.add(text)
            elif " = " in text:
                self.assign(*text.rsplit(" = ", 1), is_parted)

    def assign(self, place, value, is_parted):
        name = NAME.findall(place)[-1]
        if place.startswith("*"):
            if variable := self.reached.get(name):
                if is_parted or self.varies(value) or name in self.varying:
                    self.varying.add(variable)
            return
        if value == "threadIdx.x":
            self.positions.add(name)
        if value in PLANE_SIZES:
            self.sizes.add(name)
        if variable := re.fullmatch(r"&(v\d+_store|v\d+|inv_break_flag_v\d+\w*)", value):
            self.reached[name] = variable.group(1)
        elif element := re.match(r"&\(\*(\w+)\)\[", value):
            if element.group(1) in self.reached:
                self.reached[name] = self.reached[element.group(1)]
        if self.varies(value):
            self.varying.add(name)

    def moves(self, parts):
        """Whether a branch only assigns variables. It becomes a predicated move, as in CubeCL's own scans of a plane."""
        nodes = [node for part in parts for node in part]
        assigned = [re.match(r"\*(\w+) = \w+$", text) for form, text, *_ in nodes if form == "plain"]
        return len(assigned) == len(nodes) and all(to and to.group(1) in self.reached for to in assigned)

    def walk(self, nodes, is_parted, is_apart, found):
        """Whether units are apart after the statements, if they were before."""
        for form, text, *parts in nodes:
            if parts:
                first, second = parts[0]
                if form == "branch":
                    here = self.varies(text) and not self.moves(parts[0])
                    ends = [self.walk(part, is_parted or here, is_apart, found) for part in (first, second)]
                else:
                    here, ends, before = self.varies(text), [], is_apart
                    # It ends after its condition, in the first round or a later one.
                    for _ in range(2):
                        ends.append(self.walk(first, is_parted or here, before, found))
                        before = self.walk(second, is_parted or here, ends[-1], found)
                    ends.append(self.walk(first, is_parted or here, before, found))
                is_apart = here or any(ends)
            elif SYNCHRONISATION.search(text):
                is_apart = is_apart and is_parted
            elif PLANE_OPERATION.search(text) and (is_parted or is_apart):
                found[f"{'in' if is_parted else 'after'} a branch that parts planes: {text}"] = None
        return is_apart


def operations(nodes):
    """How many plane operations there are."""
    of_parts = [operations(part) for _, _, *parts in nodes if parts for part in parts[0]]
    return sum(of_parts) + sum(len(PLANE_OPERATION.findall(text)) for _, text, *parts in nodes if not parts)


def faults(source):
    """The plane operations of a kernel that units may miss, each once."""
    kernel, found = Kernel(source), {}
    if operations(kernel.nodes) != len(PLANE_OPERATION.findall(source)):
        raise ValueError("statements of a form that is not known")
    kernel.walk(kernel.nodes, False, False, found)
    return list(found)
