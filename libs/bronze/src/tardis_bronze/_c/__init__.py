"""The compiled half; `tardis_bronze.engine` chooses between it and the plain modules, which it equals byte for byte."""
