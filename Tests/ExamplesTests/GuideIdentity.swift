import LocalDataHost

func identify(_ router: StorageRouter) async {
    await router.updateStorageConfiguration(
        StorageConfiguration(appIdentifier: "com.example.notes", appVersion: "2.1.0"))
}
