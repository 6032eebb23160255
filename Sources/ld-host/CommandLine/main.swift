print("ld-host")
