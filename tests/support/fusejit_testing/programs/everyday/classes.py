"""Random programs with classes of their own: made inside and given from outside."""

from __future__ import annotations

from fusejit_testing.programs.everyday.grammar import Grammar

_POINT_METHODS = """\
    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)

    def __mul__(self, factor):
        return Point(self.x * factor, self.y * factor)

    def __neg__(self):
        return Point(-self.x, -self.y)

    def __lt__(self, other):
        return (self.x, self.y) < (other.x, other.y)

    def __abs__(self):
        return abs(self.x) + abs(self.y)

    @property
    def norm(self):
        return self.x * self.x + self.y * self.y

    def moved(self, dx, dy=$size):
        return Point(self.x + dx, self.y + dy)

    def scaled(self, factor):
        return self * factor + Point(self.norm, 0)
"""
_PLAIN_POINT = """\
class Point:
    def __init__(self, x, y=0):
        self.x, self.y = x, y

    def __eq__(self, other):
        return self.x == other.x and self.y == other.y

    def __hash__(self):
        return hash((self.x, self.y))

    def __bool__(self):
        return self.x != 0 or self.y != 0

    def __repr__(self):
        return f"Point({self.x}, {self.y})"

    def __getitem__(self, k):
        return (self.x, self.y)[k]

    def __iter__(self):
        yield self.x
        yield self.y

"""
_DATACLASS_POINT = """\
@dataclass
class Point:
    x: int
    y: int = 0

    def __hash__(self):
        return hash((self.x, self.y))

    def __bool__(self):
        return bool(self.x or self.y)

    def __getitem__(self, k):
        return self.x if k == 0 else self.y

    def __iter__(self):
        return iter((self.x, self.y))

"""
_FROZEN_POINT = """\
@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0

    def __getitem__(self, k):
        if k not in (0, 1):
            raise IndexError(k)
        return (self.x, self.y)[k]

    def __iter__(self):
        return iter([self.x, self.y])

    def __len__(self):
        return 2

"""
_ODD_POINT = """\
class Point:
    def __init__(self, x, y=0):
        self.x, self.y = x, y

    def __eq__(self, other):
        if not isinstance(other, Point):
            return NotImplemented
        return self.x == other.x

    def __hash__(self):
        return self.x

    def __repr__(self):
        return f"<{self.x}|{self.y}>"

    def __len__(self):
        return abs(self.x) % 5

    def __getitem__(self, k):
        return self.x * k + self.y

    def __iter__(self):
        return iter(range(len(self)))

"""
_ACCOUNT = """\
class Account:
    rate = $size
    opened = 0

    def __init__(self, balance, limit):
        self.balance, self.limit = balance, limit
        self.history = []

    def deposit(self, amount):
        if amount < 0:
            raise ValueError("negative amount")
        self.balance += amount
        self.log("deposit", amount)
        return self.balance

    def withdraw(self, amount):
        if amount > self.available:
            return False
        self.balance -= amount
        self.log("withdraw", amount)
        return True

    def log(self, what, amount):
        if len(self.history) < 30:
            self.history.append((what, amount))

    @property
    def available(self):
        return self.balance + self.limit

    @available.setter
    def available(self, value):
        self.limit = value - self.balance

    def __lt__(self, other):
        return self.balance < other.balance


class Savings(Account):
    rate = 3

    def log(self, what, amount):
        super().log(what, amount * self.rate)

    @classmethod
    def empty(cls):
        return cls(0, 0)


"""
_DATA_ACCOUNT = """\
@dataclass(order=True)
class Account:
    balance: int
    limit: int = $size
    history: list = field(default_factory=list)

    def deposit(self, amount):
        self.balance += amount
        self.history.append(amount)
        return self.balance

    def withdraw(self, amount):
        if not self.allows(amount):
            raise ValueError(f"{amount} is more than {self.available}")
        return self.deposit(-amount)

    def allows(self, amount):
        return amount <= self.available

    @property
    def available(self):
        return self.balance + self.limit


class Savings(Account):
    @staticmethod
    def empty():
        return Savings(0, 0, [0])


"""
_BAG = """\
class Bag:
    def __init__(self, items=()):
        self.items = list(items)
        self.total = 0

    def add(self, item):
        self.items.append(item)
        self.total += $size
        return self

    def __len__(self):
        return len(self.items)

    def __bool__(self):
        return self.total > 0

    def __getitem__(self, k):
        return self.items[k]

    def __setitem__(self, k, value):
        self.items[k] = value

    def __contains__(self, item):
        return item in self.items

    def __iter__(self):
        return iter(self.items)

    def __iadd__(self, other):
        self.items += [other]
        return self

    def most(self):
        return max(self.items, default=None)


"""
_COUNTING_BAG = """\
class Bag:
    def __init__(self, items=()):
        self.items = {}
        self.total = 0
        for item in items:
            self.add(item)

    def add(self, item):
        self.items[item] = self.items.get(item, 0) + 1
        self.total += 1
        return self

    def __len__(self):
        return self.total

    def __getitem__(self, key):
        return self.items.get(key, 0)

    def __setitem__(self, key, value):
        self.items[key] = value

    def __contains__(self, item):
        return item in self.items

    def __iter__(self):
        for item in self.items:
            yield item

    def __iadd__(self, other):
        return self.add(other)

    def most(self):
        return max(self.items, key=self.items.get)


"""
_NODE = """\
class Node:
    def __init__(self, value, next=None):
        self.value = value
        self.next = next

    def length(self):
        count, node = 0, self
        while node is not None:
            count += 1
            node = node.next
        return count

    def pushed(self, value):
        return Node(value, self)


class Machine:
    def __init__(self):
        self.state = "idle"
        self.steps = 0

    def step(self, signal):
        if self.state == "idle" and signal > 0:
            self.state = "busy"
        elif self.state == "busy" and signal == $size:
            self.finish()
        self.steps += 1
        return self.state

    def finish(self):
        self.state = "done" if self.steps > 3 else "idle"


def new_point(x, y):
    return Point(x, y)


def new_account(x, y):
    return Account(x, y)


def new_bag(x, y):
    return Bag([x, y, x])


def new_node(x, y):
    return Node(x, Node(y, Node(x + y)))


def nearest(points, goal):
    best, least = None, None
    for point in points:
        distance = abs(point + -goal)
        if least is None or distance < least:
            best, least = point, distance
    return best


BANK = Account(10, $size)
ORIGIN = Point(0, 0)


"""

CLASSES = Grammar(
    outside=(
        ("from dataclasses import dataclass, field\n\n\n",),
        (_PLAIN_POINT, _DATACLASS_POINT, _FROZEN_POINT, _ODD_POINT),
        (_POINT_METHODS,),
        (_ACCOUNT, _DATA_ACCOUNT),
        (_BAG, _COUNTING_BAG),
        (_NODE,),
    ),
    parameters=(
        *("xs:ints", "xs:ints", "xs:ints n:int", "a:point xs:ints", "points:points", "acc:account"),
        *("points:points a:point", "acc:account xs:ints", "accounts:accounts n:int", "b:bag"),
        *("b:bag xs:ints", "nodes:node xs:ints", "nodes:node", "accounts:accounts xs:ints"),
    ),
    beginning="k, u = 0, None\nout, made = [], []\nd = {}\np = Point(1, 2)\ne = Bag()\n"
    "m = Machine()\nc = Account(5, 3)\nh = None",
    names={
        **{"int": ("k",), "point": ("p",), "bag": ("e",), "account": ("c",), "ints": ("out",)},
        "points": ("made",),
    },
    fields={
        "size": ("1", "2", "3"),
        "int": (
            *("$point.x", "$point.y", "abs($point)", "$point.norm", "$point[0]", "$point[$size]"),
            *("len($bag)", "$account.balance", "$account.available", "$size", "len($points)", "-1"),
            *("$bag.total", "$int + 1", "$int * $size", "k % 7", "len($ints)", "m.steps"),
            *("$node.value", "$node.length()", "$account.rate", "len($account.history)", "0"),
            *("$bag[0]", "sum($point)", "sum($bag)", "len($point)", "getattr($point, 'x')"),
        ),
        "point": (
            *("Point($int, $int)", "$point + $point", "$point * $size", "-$point", "ORIGIN"),
            *("$point.moved($int)", "$point.scaled($size)", "Point($int)", "min($point, $point)"),
            *("($point if $cond else $point)", "max($points)", "$points[$size]", "$points[-1]"),
            *("nearest($points, $point)", "sum($points, Point(0))", "Point(*$point)"),
        ),
        "points": (
            *("sorted($points)", "[Point(v, $size) for v in $ints]", "$points[1:]", "[$point]"),
            *("[q for q in $points if q]", "[q + ORIGIN for q in $points]", "list({$point: 1})"),
        ),
        "ints": ("[q.x for q in $points]", "list($bag)", "$ints[1:]", "[1, 2, 5]", "sorted($ints)"),
        "bag": ("Bag($ints)", "Bag()", "$bag.add($int)", "Bag([$int, $int])"),
        "account": ("Account($int, $size)", "BANK", "Savings.empty()", "Savings($int, $int)"),
        "accounts": ("[$account, $account]", "sorted($accounts)", "[Account(v, 1) for v in $ints]"),
        "node": ("Node($int)", "Node($int, Node($int))", "$node.pushed($int)"),
        "cond": (
            *("$point == $point", "$point != $point", "$point < $point", "$point", "not $bag"),
            *("$int in $bag", "$point in $points", "$account.balance > $size", "$int > $int"),
            *("$account < $account", "$point in d", "$bag", "m.state == 'busy'", "h is None"),
            *("$point is $point", "isinstance($account, Savings)", "$node.next is None", "k % 2"),
            *("hasattr($point, 'z')", "$account.withdraw($int)", "len($bag) > $size", "$node.next"),
        ),
    },
    statements=(
        *("k += $int", "k += $int", "p = $point", "p = $point", "p += $point", "h = $point"),
        *("out.append($int)", "out.append($int)", "made.append($point)", "made.append($point)"),
        *(
            "($point).x += $int",
            "($point).y = $int",
            "p.x, p.y = p.y, p.x",
            "e.add($int)",
            "e += $int",
        ),
        *(
            "$bag.add($int)",
            "($bag).total += $size",
            "$bag[0] = $int",
            "u = $bag.most()",
            "u = $cond",
        ),
        *("$account.deposit($int)", "$account.withdraw($int)", "($account).balance -= $int"),
        *(
            "($account).available = $int",
            "k += $account.deposit($size)",
            "($account).limit = $size",
        ),
        *("try:\n    $account.withdraw($int)\nexcept ValueError as error:\n    u = str(error)",),
        *("u = m.step($int)", "k += m.step($int) == 'done'", "m.state = 'idle'", "m.finish()"),
        *("d[$point] = d.get($point, 0) + 1", "d[$point] = $int", "k += $cond", "u = $point"),
        *("h = Node($int, h)", "h = Node($int)", "if h:\n    k += 1", "u = hash($point)"),
        *("($node).value += $int", "($node).next = None", "if $cond:\n    u = $point", "h = None"),
        *("node = $node\nwhile node is not None:\n    k += node.value\n    node = node.next",),
        *("u = str($point)", "u = f'{p}: {k}'", "u = $point, $int", "made.sort()", "u = $account"),
        *(
            "setattr($point, 'x', $int)",
            "($point).z = $int",
            "del ($point).y",
            "Account.opened = $size",
        ),
        *(
            "x, y = $point\nk += x - y",
            "c = $account",
            "k += vars($point)['x']",
            "u = type($point)",
        ),
        *("try:\n    k += $point[$int]\nexcept IndexError:\n    k -= 1", "u = $bag", "u = [$bag]"),
        *("u = max($points, key=lambda q: q.norm)", "made = $points[:20]", "e = $bag"),
    ),
    loops=(
        *("for $new_int in $ints[:12]:\n    $body",) * 5,
        *("for $new_point in $points[:12]:\n    $body",) * 4,
        *(
            "for $new_int in range(len($points[:9])):\n    $body",
            "for $new_int in $bag:\n    $body",
        ),
        *("for $new_account in $accounts[:9]:\n    $body", "for $new_int in $point:\n    $body"),
        *("for $new_account in [$account, $account]:\n    $body",),
        "for $new_int, $new_point in enumerate($points[:9]):\n    $body",
        "for $new_int in range($size):\n    $body",
        "q = 0  # bound\nwhile q < 9:\n    q += 1  # bound\n    $body",
    ),
    results=(
        *(
            "k",
            "p",
            "out",
            "made",
            "k, p",
            "p.x, p.y, k",
            "d",
            "e",
            "c",
            "u, k",
            "m.state, m.steps",
        ),
        *("out, made", "c.balance, c.history", "[q.x for q in made]", "e.items, e.total", "u, p"),
        *("h", "k, h, u", "list(e), k", "[p, p]", "p, made, u", "BANK.balance, k", "$point", "u"),
        *("sorted(made)[:1]", "$bag", "$account", "$node", "out, made, d, p, e, c, u, k, h, m"),
    ),
    state=("BANK", "ORIGIN"),
    few=8,
)
