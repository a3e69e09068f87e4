"""`python -m tardis_simulator`"""

from tardis_simulator.main import main

if __name__ == "__main__":
    main()
