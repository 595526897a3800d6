"""run_module.py MODULE ARGUMENT...: a daemon that Debian ships without a command of its own in these packages."""
import importlib
import sys

module = sys.argv[1]
sys.argv = [module, *sys.argv[2:]]
sys.exit(importlib.import_module(module).main())
