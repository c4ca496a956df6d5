"""Scripts of tools/ by processes forked from one that has loaded what they import, which takes most
of the time of each (forked in config/common.sh).

    scripts.py REQUESTS ANSWERS     (named pipes)

A request is a line, the name of a file; there, each ended by NUL: the folder, files for output and
errors, and the words of the command. The answer is its exit code.
"""
import importlib
import os
import runpy
import sys
import traceback

for name in "h5py", "numpy", "PIL.Image", "matplotlib.pyplot":
    try:
        importlib.import_module(name)
    except ImportError: # scripts say so
        pass


def do(folder, out, err, *command):
    """The script as the main program of this process; its exit code."""
    os.chdir(folder)
    for stream, name in (1, out), (2, err):
        if stream == 2 and err == out:
            os.dup2(1, 2)
        else:
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), stream)
    sys.argv = list(command)
    sys.path[0] = os.path.dirname(command[0])
    try:
        runpy.run_path(command[0], run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException: # as Python does
        traceback.print_exc()
        return 1
    return 0


while True:
    with open(sys.argv[1], encoding="utf-8") as requests:
        names = requests.read().split()
    for name in names:
        with open(name, encoding="utf-8") as file:
            words = file.read().split("\0")[:-1]
        child = os.fork()
        if child == 0:
            code = 1
            try:
                code = do(*words)
                sys.stdout.flush()
                sys.stderr.flush()
            finally:
                os._exit(code)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with open(sys.argv[2], "w", encoding="utf-8") as answers:
            print(code, file=answers)
