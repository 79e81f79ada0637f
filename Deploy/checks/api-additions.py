"""What clients of an older API document rely on must still hold: Deploy/checks/api-additions.py OLD NEW, or --self-test.

Paths, operations, answers and their members may be added, never removed or changed in kind; requests may not want more.
"""

import copy
import json
import sys


def resolve(document, value):
    while isinstance(value, dict) and "$ref" in value:
        target = document
        for name in value["$ref"].removeprefix("#/").split("/"):
            target = target[name]
        value = target
    return value


def kinds(schema):
    kind = schema.get("type", [])
    return set([kind] if isinstance(kind, str) else kind)


class Comparison:
    def __init__(self, old, new):
        self.old, self.new, self.faults, self.seen = old, new, [], set()
        for path, item in old["paths"].items():
            for method, operation in item.items():
                self.operation(f"{method.upper()} {path}", operation, new["paths"].get(path, {}).get(method))

    def operation(self, place, old, new):
        if new is None:
            return self.faults.append(f"{place} is gone")
        if old["operationId"] != new["operationId"]:
            self.faults.append(f"{place}: its operationId has changed")
        if old.get("security") != new.get("security"):
            self.faults.append(f"{place}: it needs another scope")
        before = {one["name"]: one for one in (resolve(self.old, p) for p in old.get("parameters", []))}
        after = {one["name"]: one for one in (resolve(self.new, p) for p in new.get("parameters", []))}
        for name, parameter in before.items():
            if name not in after:
                self.faults.append(f"{place}: the parameter {name} is gone")
            else:
                self.schema(f"{place} {name}", parameter["schema"], after[name]["schema"], isRequest=True)
        for name in after.keys() - before.keys():
            if after[name].get("required"):
                self.faults.append(f"{place}: the parameter {name} is new and required")
        body = [one.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema") for one in (old, new)]
        if body[0] and body[1]:
            self.schema(f"{place} body", *body, isRequest=True)
        elif body[0] or body[1]:
            self.faults.append(f"{place}: the body has come or gone")
        for status, answer in old["responses"].items():
            if status not in new["responses"]:
                self.faults.append(f"{place}: the answer {status} is gone")
                continue
            contents = [resolve(d, r).get("content", {}) for d, r in ((self.old, answer), (self.new, new["responses"][status]))]
            for media, content in contents[0].items():
                if media not in contents[1]:
                    self.faults.append(f"{place} {status}: {media} is gone")
                elif "schema" in content and "schema" in contents[1][media]:
                    self.schema(f"{place} {status}", content["schema"], contents[1][media]["schema"], isRequest=False)

    def schema(self, place, old, new, isRequest):
        key = (json.dumps(old, sort_keys=True), json.dumps(new, sort_keys=True), isRequest)
        if key in self.seen:
            return
        self.seen.add(key)
        old, new = resolve(self.old, old), resolve(self.new, new)
        if not isRequest and "oneOf" in new and "oneOf" not in old:
            # An answer of one form has several now: each must be as that one was.
            for one in new["oneOf"]:
                self.schema(place, old, one, isRequest)
            return
        # A request may take more, an answer may not be of another kind.
        if kinds(old) and not (kinds(old) <= kinds(new) if isRequest else kinds(new) <= kinds(old)):
            self.faults.append(f"{place}: its type has changed from {sorted(kinds(old))} to {sorted(kinds(new))}")
        if isRequest:
            if lost := set(old.get("enum", [])) - set(new.get("enum", old.get("enum", []))):
                self.faults.append(f"{place}: {sorted(lost)} cannot be sent any more")
            if more := set(new.get("required", [])) - set(old.get("required", [])):
                self.faults.append(f"{place}: {sorted(more)} must be sent now")
            for limit, isSmaller in (("maxLength", True), ("maxItems", True), ("maximum", True), ("minLength", False), ("minimum", False)):
                if limit in new and (limit not in old or (new[limit] < old[limit]) == isSmaller and new[limit] != old[limit]):
                    self.faults.append(f"{place}: {limit} is narrower")
        elif lost := set(old.get("required", [])) - set(new.get("required", [])):
            self.faults.append(f"{place}: {sorted(lost)} may be missing now")
        for name, member in old.get("properties", {}).items():
            if name in new.get("properties", {}):
                self.schema(f"{place}/{name}", member, new["properties"][name], isRequest)
            else:
                self.faults.append(f"{place}/{name} is gone")
        if "items" in old and "items" in new:
            self.schema(f"{place}[]", old["items"], new["items"], isRequest)
        for index, one in enumerate(old.get("oneOf", [])):
            if index < len(new.get("oneOf", [])):
                self.schema(f"{place}|{index}", one, new["oneOf"][index], isRequest)


def self_test(document):
    """Every kind of breaking change is found, and additions are none."""

    def changed(change):
        other = copy.deepcopy(document)
        change(other)
        return Comparison(document, other).faults

    path = "/v1/customers/{customerId}"
    schemas = "components", "schemas"

    def schema(other, name):
        return other[schemas[0]][schemas[1]][name]

    assert changed(lambda d: None) == []
    assert changed(lambda d: d["paths"].update({"/v1/new": {"get": {"operationId": "new", "responses": {}}}})) == []
    assert changed(lambda d: schema(d, "Customer")["properties"].update({"new": {"type": "string"}})) == []

    def give_forms(document, *members):
        """In the place of Customer two forms of it, of which one lacks the members."""
        forms = [copy.deepcopy(schema(document, "Customer")) for _ in range(2)]
        for member in members:
            forms[1]["properties"].pop(member)
        schema(document, "Customer").clear()
        schema(document, "Customer")["oneOf"] = forms

    assert changed(lambda d: give_forms(d)) == []
    for change in (
        lambda d: give_forms(d, "createdAt"),
        lambda d: d["paths"].pop(path),
        lambda d: d["paths"][path].pop("get"),
        lambda d: d["paths"][path]["get"].update({"security": [{"key": ["customers:write"]}]}),
        lambda d: d["paths"][path]["get"]["responses"].pop("404"),
        lambda d: schema(d, "Customer")["properties"].pop("createdAt"),
        lambda d: schema(d, "Customer")["required"].remove("createdAt"),
        lambda d: schema(d, "Customer")["properties"]["createdAt"].update({"type": "string"}),
        lambda d: schema(d, "ExtensionRequest")["required"].append("note"),
        lambda d: schema(d, "ExtensionRequest")["properties"]["reason"]["enum"].remove("other"),
        lambda d: schema(d, "ExtensionRequest")["properties"]["days"].update({"maximum": 30}),
        lambda d: d["components"]["parameters"]["bundleId"].update({"name": "app", "required": True}),
    ):
        assert changed(change), "a breaking change was not found"


if __name__ == "__main__":
    if sys.argv[1] == "--self-test":
        self_test(json.load(open(sys.argv[2])))
        print("api-additions: finds what breaks clients, and lets additions pass")
    else:
        faults = Comparison(*(json.load(open(path)) for path in sys.argv[1:3])).faults
        print("\n".join(sorted(set(faults))) or "api-additions: only additions")
        sys.exit(bool(faults))
