local a = 1

error("boom")
