"""Users, roles, keys and rights: names and rules that a client makes up, passwords that cost memory to check, keys hoarded. Everybody is a superuser here."""

import base64
import json

from case import OK, REFUSED, Case, acts, several

BAD = (400, 401, 403, 404, 405, 409, 413, 415, 429)
SETTINGS = ["xpack.security.enabled=true", "xpack.security.authc.anonymous.username=everybody", "xpack.security.authc.anonymous.roles=superuser"]
SETUP = [
    ("PUT", "/docs/_doc/1?refresh=true", {"owner": "u", "n": 1}),
    ("PUT", "/_security/role/plain", {"indices": [{"names": ["docs"], "privileges": ["read"]}]}),
    ("PUT", "/_security/user/u", {"password": "secret-of-u", "roles": ["plain"]}),
]


def basic(user, password):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()}


def role(name, body, **more):
    return Case(f"role_{name}", "PUT", f"/_security/role/{name}", body, OK + BAD, cleanup=[("DELETE", f"/_security/role/{name}")], **{"seconds": 30, **more})


def grants(names, **more):
    return {"indices": [{"names": names, "privileges": ["read"], **more}]}


def deep(depth):
    inner = {"match_all": {}}
    for _ in range(depth):
        inner = {"bool": {"must": inner}}
    return inner


def hoard(name, count, method, path, body):
    def act(server):
        for n in range(count):
            status, answer = server.send(method, path.format(n=n), body)
            yield status, answer[:200]

    return acts(name, act, OK + BAD, seconds=120)


def key_used(name, count, descriptors, paths):
    """Makes keys with these role descriptors and sends requests with each of them."""

    def act(server):
        for n in range(count):
            status, answer = server.send("POST", "/_security/api_key", {"name": f"k{n}", "role_descriptors": descriptors(n)})
            yield status, answer[:200]
            if status == 200:
                encoded = json.loads(answer)["encoded"]
                for path in paths:
                    status, answer = server.send("GET", path, None, {"Authorization": f"ApiKey {encoded}"})
                    yield status, answer[:200]

    return acts(f"key_{name}", act, OK + BAD, seconds=120, cleanup=[("DELETE", "/_security/api_key")])


PATTERNS = {"stars": "*a" * 5_000 + "*", "regex": "/((a{1,30}){1,30}){1,30}/", "regex_exponential": "/(a|b)*a(a|b){25}/", "regex_long": "/" + "(" * 100_000 + "a" + ")" * 100_000 + "/", "regex_stars": "/a" + "*" * 100_000 + "/", "long": "x" * 1_000_000,
            "complement": "/~(.*a.{1,12})/", "empty": "", "slash": "/", "nul": "a\0b", "unclosed": "/(a/", "many": "a,b,c" * 50_000}

CASES = [
    *[role(f"names_{name}", grants([pattern])) for name, pattern in PATTERNS.items()],
    *[several(f"role_used_{name}", [("PUT", "/_security/role/used", grants([pattern])), ("PUT", "/_security/user/used", {"password": "secret-of-used", "roles": ["used"]}),
        ("GET", "/_security/user/used"), ("POST", "/_security/user/_has_privileges", {"index": [{"names": ["a" * 200], "privileges": ["read"]}]})], OK + BAD, seconds=30,
        cleanup=[("DELETE", "/_security/user/used"), ("DELETE", "/_security/role/used")]) for name, pattern in PATTERNS.items()],
    role("names_regexes", lambda: grants([f"/name{n}(a{{99}}){{9}}/" for n in range(1_000)])),
    role("groups_of_regexes", lambda: {"indices": [{"names": [f"/a{n}.{m}(b{{30}}){{30}}/" for m in range(100)], "privileges": ["read"]} for n in range(1_000)]}),
    role("privileges_unknown_many", lambda: {"indices": [{"names": ["a"], "privileges": [f"p{n}" for n in range(1_000)]} for _ in range(1_000)]}),
    role("fields_excepted", lambda: {"indices": [{"names": ["a"], "privileges": ["read"], "field_security": {"grant": [f"f{n}*" for n in range(1_000)], "except": [f"f{n}.a" for n in range(1_000)]}} for _ in range(30)]}),
    key_used("of_regexes", 200, lambda n: {"r": grants([f"/k{n}.{m}(a{{40}}){{20}}/" for m in range(100)])}, ["/docs/_search", "/k1/_search"]),
    key_used("of_fields", 3, lambda n: {"r": {"indices": [{"names": ["*"], "privileges": ["read"], "field_security": {"grant": [f"field-{n}-{m}-" + "x" * 200 for m in range(1_000)]}}]}},
             [f"/name-{n}/_search" for n in range(1_500)]),
    key_used("of_groups", 3, lambda n: {"r": {"indices": [{"names": ["*"], "privileges": ["read"], "field_security": {"grant": [f"field-{n}-{m}"]}} for m in range(1_000)]}},
             [f"/name-{n}/_search" for n in range(1_000)]),
    role("names_many", lambda: grants([f"name{n}*" for n in range(200_000)])),
    role("groups_many", lambda: {"indices": [{"names": [f"name{n}*"], "privileges": ["read"]} for n in range(50_000)]}),
    role("privileges_many", {"indices": [{"names": ["a"], "privileges": ["read", "write"] * 100_000}]}),
    role("privileges_unknown", {"indices": [{"names": ["a"], "privileges": ["x" * 1_000_000]}]}),
    role("privileges_patterns", {"indices": [{"names": ["a"], "privileges": ["indices:" + "*a" * 50_000]}]}),
    role("cluster_many", {"cluster": ["all"] * 300_000}),
    role("cluster_pattern", {"cluster": ["/((a*)*)*b/", "cluster:" + "*" * 100_000]}),
    role("run_as", lambda: {"run_as": [f"user{n}" for n in range(200_000)]}),
    role("run_as_pattern", {"run_as": ["/(a|b)*a(a|b){25}/"]}),
    role("fields_many", lambda: grants(["docs"], field_security={"grant": [f"*f{n}*" for n in range(100_000)]})),
    role("fields_stars", grants(["docs"], field_security={"grant": ["*" + "a*" * 50_000], "except": ["*" * 100_000]})),
    role("query_deep", lambda: grants(["docs"], query=deep(5_000))),
    role("query_text", lambda: grants(["docs"], query="{\"bool\":{\"must\":" * 50_000 + "{}" + "}}" * 50_000)),
    role("query_long", lambda: grants(["docs"], query={"terms": {"owner": [f"user{n}" for n in range(65_000)]}})),
    role("query_template", grants(["docs"], query={"template": {"source": "{{#_user.metadata}}" * 20_000 + "{{/_user.metadata}}" * 20_000}})),
    role("metadata", lambda: {"metadata": {f"k{n}": "x" * 100 for n in range(100_000)}}),
    role("metadata_deep", "{\"metadata\":" + "{\"a\":" * 50_000 + "1" + "}" * 50_001),
    role("applications", lambda: {"applications": [{"application": f"app{n}", "privileges": ["read"], "resources": ["*"]} for n in range(100_000)]}),
    Case("role_name", "PUT", "/_security/role/" + "x" * 3_000, grants(["a"]), OK + BAD),
    Case("user_name", "PUT", "/_security/user/" + "x" * 3_000, {"password": "secret-secret", "roles": []}, OK + BAD),
    Case("user_roles", "PUT", "/_security/user/many", lambda: {"password": "secret-secret", "roles": [f"role{n}" for n in range(300_000)]}, OK + BAD, cleanup=[("DELETE", "/_security/user/many")]),
    Case("user_metadata", "PUT", "/_security/user/meta", lambda: {"password": "secret-secret", "roles": [], "metadata": {f"k{n}": ["x" * 100] * 10 for n in range(20_000)}}, OK + BAD, cleanup=[("DELETE", "/_security/user/meta")]),
    Case("password_long", "PUT", "/_security/user/long", {"password": "x" * 5_000_000, "roles": []}, OK + BAD, cleanup=[("DELETE", "/_security/user/long")]),
    Case("password_hash", "PUT", "/_security/user/hash", {"password_hash": "$argon2id$v=19$m=4194304,t=4294967295,p=255$" + "A" * 22 + "$" + "A" * 43, "roles": []}, OK + BAD, cleanup=[("DELETE", "/_security/user/hash")]),
    Case("password_hash_bcrypt", "PUT", "/_security/user/hash", {"password_hash": "$2a$31$" + "a" * 53, "roles": []}, OK + BAD, cleanup=[("DELETE", "/_security/user/hash")]),
    Case("passwords", "PUT", "/_security/user/p", {"password": "secret-secret", "roles": []}, OK + BAD, clients=60, seconds=60, cleanup=[("DELETE", "/_security/user/p")]),
    Case("passwords_wrong", "GET", "/docs/_search", None, BAD, headers=basic("u", "wrong-password"), clients=200, seconds=60),
    Case("passwords_of_nobody", "GET", "/docs/_search", None, BAD, headers=basic("nobody", "wrong-password"), clients=200, seconds=60),
    Case("passwords_right", "GET", "/docs/_search", None, OK + BAD, headers=basic("u", "secret-of-u"), clients=200, seconds=60),
    Case("passwords_gone", "GET", "/docs/_search", None, headers=basic("u", "wrong"), hang_up=0.1, clients=200),
    Case("credentials_odd", "GET", "/", None, BAD, headers={"Authorization": "Basic " + "A" * 10_000}),
    Case("credentials_not_base64", "GET", "/", None, BAD, headers={"Authorization": "Basic !!!!"}),
    Case("credentials_key", "GET", "/", None, BAD, headers={"Authorization": "ApiKey " + base64.b64encode(b"a:" + b"b" * 5_000).decode()}),
    Case("credentials_bearer", "GET", "/", None, BAD, headers={"Authorization": "Bearer AAEAAWVsYXN0aWM" + "A" * 5_000}),
    Case("credentials_scheme", "GET", "/", None, BAD, headers={"Authorization": "x" * 10_000}),
    Case("run_as_odd", "GET", "/", None, OK + BAD, headers={"es-security-runas-user": "../" * 2_000}),
    hoard("keys", 400, "POST", "/_security/api_key", {"name": "k", "role_descriptors": {"x": grants(["docs"])}}),
    hoard("keys_large", 60, "POST", "/_security/api_key", {"name": "k", "metadata": {f"k{n}": "x" * 100 for n in range(2_000)}}),
    Case("keys_many_roles", "POST", "/_security/api_key", lambda: {"name": "k", "role_descriptors": {f"r{n}": grants([f"i{n}*"]) for n in range(20_000)}}, OK + BAD, seconds=30),
    Case("keys_name", "POST", "/_security/api_key", {"name": "x" * 5_000_000}, OK + BAD),
    Case("keys_expiration", "POST", "/_security/api_key", {"name": "k", "expiration": "99999999999999d"}, OK + BAD),
    Case("keys_list", "GET", "/_security/api_key?with_limited_by=true", None, OK + BAD, clients=16, seconds=60),
    Case("keys_query", "POST", "/_security/_query/api_key", lambda: {"query": deep(3_000), "size": 10_000}, OK + BAD),
    Case("keys_query_wide", "POST", "/_security/_query/api_key", lambda: {"query": {"bool": {"should": [{"wildcard": {"name": "*a*" * 50}}] * 5_000}}, "size": 10_000}, OK + BAD, seconds=30),
    Case("keys_query_aggs", "POST", "/_security/_query/api_key", lambda: {"aggs": {f"a{n}": {"terms": {"field": "name", "size": 100_000}} for n in range(1_000)}}, OK + BAD),
    Case("keys_query_sort", "POST", "/_security/_query/api_key", {"sort": ["creation"] * 50_000, "from": 2_147_483_647, "size": 2_147_483_647}, OK + BAD),
    Case("keys_invalidate", "DELETE", "/_security/api_key", lambda: {"ids": [f"id{n}" for n in range(300_000)]}, OK + BAD),
    Case("keys_grant", "POST", "/_security/api_key/grant", {"grant_type": "password", "username": "u", "password": "wrong" * 100_000, "api_key": {"name": "k"}}, BAD, clients=10, seconds=30),
    Case("keys_gone", "DELETE", "/_security/api_key", {"name": "k"}, OK + BAD, seconds=60),
    Case("privileges_asked", "POST", "/_security/user/_has_privileges", lambda: {"cluster": ["all"] * 50_000, "index": [{"names": [f"i{n}*" for n in range(2_000)], "privileges": ["read", "write", "all"] * 50} for _ in range(20)]}, OK + BAD, seconds=60),
    Case("privileges_asked_patterns", "POST", "/_security/user/_has_privileges", {"index": [{"names": ["*a" * 5_000, "/(a|b)*a(a|b){25}/"], "privileges": ["read"]}]}, OK + BAD),
    Case("privileges_applications", "POST", "/_security/user/_has_privileges", lambda: {"application": [{"application": "a" * 200, "privileges": [f"p{n}" for n in range(1_000)], "resources": [f"r{n}" for n in range(1_000)]}]}, OK + BAD, seconds=30),
    Case("application_privileges", "PUT", "/_security/privilege", lambda: {f"app{n}": {f"p{m}": {"actions": ["data:read/*"] * 50} for m in range(50)} for n in range(500)}, OK + BAD, seconds=30),
    Case("role_mapping", "PUT", "/_security/role_mapping/x", "{\"roles\":[\"a\"],\"rules\":" + "{\"except\":" * 50_000 + "1" + "}" * 50_001, BAD),
    hoard("tokens", 100, "POST", "/_security/service/elastic/kibana/credential/token/t{n}", None),
    hoard("users", 60, "PUT", "/_security/user/hoarded{n}", {"password": "secret-secret", "roles": []}),
    Case("users_list", "GET", "/_security/user?with_profile_uid=true", None, OK + BAD, clients=16),
    several("users_gone", [("DELETE", f"/_security/user/hoarded{n}") for n in range(60)], OK + BAD, seconds=60),
]
