internal import LocalDataAPI

extension StoreProperties {
    /// How long the store keeps values, for people.
    var durability: String {
        if isDurable { return "durable" }
        return latency == .memory ? "lost when the process ends" : "may be lost in a power loss"
    }
}
