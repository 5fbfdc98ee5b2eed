"""What is here already: the start of an app with an installed model and no network, and a list of five hundred releases."""

import json
import os
import shutil
import statistics
import subprocess
import tempfile

from measure import built, report, run, spread

HEARTH = os.environ["HEARTH_BINARY"]
CACHE = os.environ["BENCH_CACHE"]
MODEL = os.environ["BENCH_MODEL"]
RUNS = 15
FAMILIES, VERSIONS = 50, 10


def offline():
    """The prefix that puts a command into a network with nothing in it, not even a loopback; none where that is not allowed."""
    prefix = ["unshare", "--map-root-user", "--net"]
    return prefix if subprocess.run(prefix + ["true"], capture_output=True).returncode == 0 else []


def install(state, model, family):
    """One release, by the product's own commands."""
    home, origin = os.path.join(state, "home"), os.path.join(state, "origin")
    run([HEARTH, "publish", model, "--family", family, "--version", "1.0.0", "--to", origin, "--quiet"])
    run([HEARTH, "pull", family, "--no-probe", "--quiet"],
        {"HEARTH_HOME": home, "HEARTH_ORIGIN": f"file://{origin}/models.json"})
    return home


def starts(name, bench, home, live):
    """Starts in processes of their own, with an origin that cannot be reached."""
    command = offline() + [bench, home]
    times, whole = [], []
    for _ in range(RUNS + 1):
        result = run(command, {"HEARTH_HOME": home, "HEARTH_ORIGIN": "https://origin.invalid/models.json"})
        answer = json.loads(result.output)
        if answer["live"] != live:
            raise SystemExit(f"{answer['live']} releases are live instead of {live}")
        times.append(answer["ms"])
        whole.append(result.seconds * 1000)
    report(name, ours=statistics.median(times[1:]), unit="ms", runs=RUNS, spread=spread(times[1:]),
           process_ms=statistics.median(whole[1:]), network="none" if len(command) > 2 else "refused")


def many(state):
    """A home of five hundred releases, each family with one live. All are copies of one that was pulled."""
    small = os.path.join(state, "small.onnx")
    with open(small, "wb") as file:
        file.write(os.urandom(4000))
    home = install(state, small, "family-0")
    models = os.path.join(home, "models")
    first = os.path.join(models, "family-0")
    with open(os.path.join(first, "1.0.0", "receipt.json")) as file:
        receipt = json.load(file)
    for number in range(FAMILIES):
        family = os.path.join(models, f"family-{number}")
        if number:
            os.mkdir(family)
            shutil.copy(os.path.join(first, "state.json"), family)
            os.symlink("1.0.0", os.path.join(family, "active"))
        for version in range(VERSIONS):
            release = os.path.join(family, f"1.{version}.0")
            if number or version:
                shutil.copytree(os.path.join(first, "1.0.0"), release)
            receipt.update(family=f"family-{number}", version=f"1.{version}.0")
            with open(os.path.join(release, "receipt.json"), "w") as file:
                json.dump(receipt, file)
    return home


def start_stored():
    bench = built("HearthStoreBench")
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        starts("start-stored", bench, install(state, MODEL, "start"), live=1)
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        starts("start-stored-many", bench, many(state), live=FAMILIES)


def list_many():
    with tempfile.TemporaryDirectory(dir=CACHE) as state:
        environment = {"HEARTH_HOME": many(state)}
        times = []
        for _ in range(RUNS + 1):
            result = run([HEARTH, "list"], environment)
            if result.output.count("1.") < FAMILIES * VERSIONS:
                raise SystemExit("a release is missing from the list")
            times.append(result.seconds * 1000)
        listed = json.loads(run([HEARTH, "list", "--format", "json"], environment).output)
        if len(listed) != FAMILIES * VERSIONS:
            raise SystemExit(f"{len(listed)} releases are listed")
        report("list-500", ours=statistics.median(times[1:]), unit="ms", runs=RUNS, spread=spread(times[1:]))
