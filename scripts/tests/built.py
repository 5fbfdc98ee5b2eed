"""The modules of the last `swift build`, for scripts that compile or read them. It goes to the root of the tree."""
import glob
import os
import re
import subprocess

LIBRARIES = "gio-2.0 libarchive libcurl libedit libmicrohttpd libxml-2.0 llama".split()

os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
folder = os.path.realpath(".build/debug")
modules = f"{folder}/Modules"


def output(*command, **variables):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, **variables}).stdout.strip()


def includes():
    """Where the C modules are that the public modules import."""
    for path in glob.glob("Sources/C*/module.modulemap") + glob.glob(f"{folder}/C*.build/module.modulemap"):
        yield from ("-Xcc", f"-fmodule-map-file={os.path.realpath(path)}")
    prefix = output("bash", "-c", ". scripts/env.sh; echo $llama_prefix")
    for flag in output("pkg-config", "--cflags-only-I", *LIBRARIES, PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig").split():
        yield from ("-Xcc", flag)


def compiles(files, *options):
    """Whether the files compile, as code of another package; prints the errors."""
    command = ["swiftc", "-typecheck", "-wmo", "-swift-version", "6", *options, *files]
    result = subprocess.run(command, capture_output=True, text=True)
    # Warnings, as of values that an example does not use, are not told.
    for line in result.stderr.splitlines():
        if re.match(r"[^ |].*error: ", line):
            print(line)
    if result.returncode != 0 and " error: " not in result.stderr:
        print(result.stderr[-3000:])
    return result.returncode == 0
