local a = 1
x = = 1
