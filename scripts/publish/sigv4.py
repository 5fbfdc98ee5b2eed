#!/usr/bin/env python3
"""Generates requests and addresses, and signs them with botocore.

    scripts/publish/sigv4.py COUNT SEED FILE     writes a JSON list; the same seed makes the same list

`scripts/publish/sigv4.json` has 40 of them for the tests; `make verify STAGE=publish` makes 500 others.
"""
import json
import random
import sys
from datetime import datetime, timezone
from urllib.parse import quote

import botocore.auth
from botocore.auth import S3SigV4Auth, S3SigV4QueryAuth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

LETTERS = "abcXYZ019-._~ +&=%$,;:@!*'()[]{}|\\^`\"<>#?äß漢😀\u0301"


def word(random, most=12):
    return "".join(random.choice(LETTERS) for _ in range(random.randint(1, most)))


def case(random):
    endpoint = random.choice(["https://s3.eu-central-1.amazonaws.com", "https://a1b2.r2.cloudflarestorage.com",
                              "http://127.0.0.1:9000", "https://bucket.example:8443"])
    path = "/".join(word(random) for _ in range(random.randint(1, 4)))
    names = random.sample(["uploads", "uploadId", "partNumber", "list-type", "prefix", "X-a", "x-b", word(random)],
                          random.randint(0, 4))
    pairs = [(name, random.choice(["", word(random), "1", "a/b"])) for name in names]
    url = f"{endpoint}/{quote(path, safe='/-._~')}"
    if pairs:
        url += "?" + "&".join(f"{quote(n, safe='-._~')}={quote(v, safe='-._~')}" for n, v in pairs)
    headers = []
    for name, value in [("Content-Type", "application/octet-stream"), ("Cache-Control", "no-cache, no-store"),
                        ("x-amz-meta-sha256", "00" * 32), ("If-None-Match", "*"), ("If-Match", '"a  b"'),
                        ("Range", "bytes=0-9"), ("User-Agent", "hearth/1"), ("x-amz-meta-note", "  two   words ")]:
        if random.random() < 0.3:
            headers.append([name, value])
    secret = "".join(random.choice("abcdefghijkABCDEFGH0123456789/+") for _ in range(40))
    token = "".join(random.choice("abcXYZ/+=") for _ in range(60)) if random.random() < 0.3 else None
    return {
        "method": random.choice(["GET", "HEAD", "PUT", "POST", "DELETE"]), "url": url, "headers": headers,
        "body": word(random, 40) if random.random() < 0.5 else "", "accessKey": "AKIDEXAMPLE", "secretKey": secret,
        "token": token, "region": random.choice(["us-east-1", "auto", "eu-central-1"]),
        "time": random.randint(0, 4_000_000_000), "expires": random.choice([1, 60, 3600, 604800]),
    }


def sign(made):
    now = datetime.fromtimestamp(made["time"], timezone.utc).replace(tzinfo=None)
    # The name of botocore's clock depends on its version.
    botocore.auth.get_current_datetime = lambda remove_tzinfo=True: now
    key = Credentials(made["accessKey"], made["secretKey"], made["token"])
    request = AWSRequest(made["method"], made["url"], dict(made["headers"]), made["body"].encode())
    S3SigV4Auth(key, "s3", made["region"]).add_auth(request)
    made["authorization"] = request.headers["Authorization"]
    request = AWSRequest(made["method"], made["url"])
    S3SigV4QueryAuth(key, "s3", made["region"], made["expires"]).add_auth(request)
    made["presigned"] = request.url
    return made


if len(sys.argv) != 4:
    sys.exit(__doc__)
source = random.Random(int(sys.argv[2]))
with open(sys.argv[3], "w", encoding="utf-8") as file:
    file.write("[\n" + ",\n".join(json.dumps(sign(case(source))) for _ in range(int(sys.argv[1]))) + "\n]\n")
