"""Elasticsearch's REST specification, as the sources of its Python client have it."""
import ast, os, re
from dataclasses import dataclass, field


@dataclass
class Endpoint:
    api: str
    method: str
    # With the parts' names in braces; the longest first.
    paths: list
    # Name and type of each parameter of the URL, the type as the annotation has it.
    parameters: dict = field(default_factory=dict)


def endpoints(folder):
    out = []
    client = os.path.join(folder, "_sync", "client")
    for name in sorted(os.listdir(client)):
        if not name.endswith(".py") or name in ("_base.py", "utils.py"):
            continue
        text = open(os.path.join(client, name)).read()
        area = "" if name == "__init__.py" else name[:-3] + "."
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                endpoint = of_function(area, node, text)
                if endpoint:
                    out.append(endpoint)
    return out


def of_function(area, node, text):
    source = ast.get_source_segment(text, node)
    paths = re.findall(r"__path = f?['\"](/[^\n]*)['\"]\n", source)
    method = re.search(r'perform_request\([^"]*"([A-Z]+)"', source)
    if not paths or not method:
        return None
    paths = [re.sub(r'\{__path_parts\["(\w+)"\]\}', r"{\1}", path) for path in paths]
    types = {arg.arg: ast.unparse(arg.annotation) if arg.annotation else "" for arg in node.args.kwonlyargs}
    named = re.findall(r'__query\["(\w+)"\] = (\w+)', source)
    return Endpoint(area + node.name, method.group(1), paths, {name: types.get(argument, "") for name, argument in named})
