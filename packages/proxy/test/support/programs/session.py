"""Logs in with psycopg and prints who it is. `sleep`: runs a query until SIGINT, which cancels it, and prints the SQLSTATE."""

import os
import signal
import sys

import psycopg

conninfo, act = sys.argv[1:]
with psycopg.connect(conninfo, password=os.environ["PGPASSWORD"]) as connection:
    print(connection.execute("select current_user").fetchone()[0])
    if act == "sleep":
        signal.signal(signal.SIGINT, lambda *_: connection.cancel())
        try:
            connection.execute("select pg_sleep(600)")
        except psycopg.Error as error:
            print(error.sqlstate)
