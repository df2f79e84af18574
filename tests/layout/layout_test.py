#!/usr/bin/env python3
"""Checks the rules of docs/architecture.md that a look at the files can tell.

    layout_test.py SOURCE_DIR

Prints one line a violation and exits 1 if there is any.
"""
import pathlib
import re
import sys

# Room -> rooms it may include. The table of docs/architecture.md; change both in one commit.
MAY_INCLUDE = {
    'base': set(),
    'model': {'base'},
    'net': {'base'},
    'codec': {'model', 'base'},
    'disk': {'codec', 'model', 'base'},
    'head': {'disk', 'codec', 'model', 'base'},
    'db': {'head', 'disk', 'codec', 'model', 'base'},
    'promql': {'model', 'base'},
    'scrape': {'net', 'codec', 'model', 'base'},
    'rules': {'promql', 'net', 'model', 'base'},
    'remote': {'net', 'disk', 'codec', 'model', 'base'},
}
ALL = set(MAY_INCLUDE)
MAY_INCLUDE['tool'] = set(ALL)
MAY_INCLUDE['server'] = ALL | {'tool'}

# Heavy headers -> where alone they may be included.
HEAVY = [
    (re.compile(r'boost/(asio|beast)'), re.compile(r'^src/net/[^/]*\.cc$')),
    (re.compile(r'curl/curl\.h'), re.compile(r'^src/net/[^/]*\.cc$')),
    (re.compile(r're2/re2\.h'), re.compile(r'^(src|tests)/base/[^/]*\.cc$')),
    (re.compile(r'yaml-cpp/'), re.compile(r'^src/base/[^/]*\.cc$')),
    (re.compile(r'\.pb\.h'), re.compile(r'^(src/codec|tests)/.*\.cc$')),
    (re.compile(r'nlohmann/'), re.compile(r'^(src/(disk|net|server|db|tool)|tests|bench)/.*\.cc$')),
    (re.compile(r'CLI/CLI\.hpp'), re.compile(r'^src/(server|tool)/.*\.cc$')),
    (re.compile(r'spdlog/'), re.compile(r'^src/base/[^/]*\.cc$')),
]

STRANGERS = re.compile(r'(^|_)(util|utils|helper|helpers|common|misc)(_|\.|$)')
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.M)
MAX_LINES, MAX_TEST_LINES, MAX_FUNCTION_LINES = 800, 1200, 70


def room_of(path):
    parts = path.parts
    if parts[0] == 'src' and len(parts) > 2 and parts[1] in MAY_INCLUDE:
        return parts[1]
    if parts[0] == 'include' and len(parts) > 3 and parts[2] in MAY_INCLUDE:
        return parts[2]
    return None


def included_room(name):
    match = re.match(r'(?:narthex/)?([a-z]+)/', name)
    return match.group(1) if match and match.group(1) in MAY_INCLUDE else None


def check_includes(path, text, report):
    room = room_of(path)
    for name in INCLUDE.findall(text):
        for heavy, place in HEAVY:
            if heavy.search(name) and not place.match(path.as_posix()):
                report(path, f'{name} belongs behind one .cc of another room')
        if room is None:
            continue
        other = included_room(name)
        if other is None or other == room:
            continue
        if other not in MAY_INCLUDE[room]:
            report(path, f'{room} may not include {other} ({name})')
        if not name.startswith('narthex/'):
            report(path, f'{name} is private to {other}; include its door')


NO_FUNCTION = re.compile(r'\s*(namespace|class|struct|enum|union|extern|template|constexpr|const|static const|'
                         r'inline constexpr|if|for|while|switch|do|else|//)\b')


def check_functions(path, lines, report):
    """Bodies of functions at the left margin or, in classes, two columns in."""
    start = None
    for number, line in enumerate(lines, 1):
        indent = len(line) - len(line.lstrip())
        if start is None and line.rstrip().endswith('{') and indent in (0, 2, 4) and line.strip() != '{':
            # The declaration may have begun some lines before.
            head = number - 1
            while head > 0 and (not lines[head].strip() or len(lines[head]) - len(lines[head].lstrip()) >= 4):
                head -= 1
            if not NO_FUNCTION.match(lines[head]):
                start, margin = number, len(lines[head]) - len(lines[head].lstrip())
        elif start is not None and re.match(r' {%d}\}' % margin, line):
            if number - start - 1 > MAX_FUNCTION_LINES:
                report(path, f'line {start}: a body of {number - start - 1} lines '
                             f'(at most {MAX_FUNCTION_LINES})')
            start = None


def check_file(root, path, report):
    text = (root / path).read_text()
    lines = text.split('\n')
    limit = MAX_TEST_LINES if path.parts[0] == 'tests' else MAX_LINES
    if len(lines) > limit:
        report(path, f'{len(lines)} lines (at most {limit})')
    if STRANGERS.search(path.name):
        report(path, 'a name that draws strangers: name it after its one concept')
    if path.suffix == '.h' and '#pragma once' not in text:
        report(path, 'no #pragma once')
    if path.suffix == '.h' and re.search(r'^using namespace', text, re.M):
        report(path, 'using namespace in a header')
    check_includes(path, text, report)
    if path.parts[0] in ('src', 'include'):
        check_functions(path, lines, report)


def check_doors(root, files, report):
    """A header under include/ is there because another room includes it, or an embedder may."""
    embedding = {'db', 'promql', 'model', 'base'}
    users = {}
    for path in files:
        for name in INCLUDE.findall((root / path).read_text()):
            if name.startswith('narthex/'):
                user = room_of(path) or path.parts[0]
                # A door that a door of its room needs is one too.
                users.setdefault(name, set()).add('door' if path.parts[0] == 'include' else user)
    for path in files:
        if path.parts[0] != 'include':
            continue
        name = path.relative_to('include').as_posix()
        room = path.parts[2]
        if room not in embedding and not users.get(name, set()) - {room, 'tests', 'bench'}:
            report(path, 'no other room includes this door: keep it private in src/')


def check_readmes(root, report):
    for room in MAY_INCLUDE:
        folder = root / 'src' / room
        if (folder / 'CMakeLists.txt').exists():
            readme = folder / 'README.md'
            if not readme.exists() or len(readme.read_text()) < 500:
                report(readme.relative_to(root), 'every room has a page of its own')


def main():
    root = pathlib.Path(sys.argv[1]).resolve()
    violations = []

    def report(path, text):
        violations.append(f'{path}: {text}')

    files = []
    for top in ('src', 'include', 'tests', 'bench', 'docs'):
        for path in sorted((root / top).rglob('*')):
            if path.suffix in ('.h', '.cc'):
                files.append(path.relative_to(root))
    for path in files:
        check_file(root, path, report)
    check_doors(root, files, report)
    check_readmes(root, report)
    print('\n'.join(violations))
    print(f'{len(files)} files, {len(violations)} violations')
    return 1 if violations else 0


if __name__ == '__main__':
    sys.exit(main())
