/// A line of the table.
struct Row: Sendable {
    let what: String
    let ours: String
    let baseline: String
    let ratio: String
    var aim = ""
    /// `nil` where there is no target, or where this machine cannot decide now.
    var isMet: Bool?

    /// Prints the line as Markdown.
    func print() {
        let met = isMet.map { $0 ? "met" : "**not met**" } ?? (aim.isEmpty ? "" : "cannot tell: machine is busy")
        Swift.print("| \(what) | \(ours) | \(baseline) | \(ratio) | \(aim) | \(met) |")
    }

    /// A comparison of times with an upper limit for their ratio.
    init(_ what: String, _ times: Comparison, atMost limit: Double? = nil) {
        self.init(
            what: what, ours: microseconds(times.ours), baseline: microseconds(times.baseline),
            ratio: Self.text(of: times.ratio, limit), aim: limit.map { "<= \(decimal($0, 2))x" } ?? "",
            isMet: limit.map { times.ratio <= $0 })
    }

    /// With a third digit where two would look like the limit that they exceed.
    private static func text(of ratio: Double, _ limit: Double?) -> String {
        let looksMet = limit.map { ratio > $0 && decimal(ratio, 2) == decimal($0, 2) } ?? false
        return decimal(ratio, looksMet ? 3 : 2)
    }

    init(what: String, ours: String, baseline: String, ratio: String, aim: String = "", isMet: Bool? = nil) {
        self.what = what
        self.ours = ours
        self.baseline = baseline
        self.ratio = ratio
        self.aim = aim
        self.isMet = isMet
    }
}

/// Nanoseconds as text in microseconds.
func microseconds(_ nanoseconds: Double) -> String {
    "\(decimal(nanoseconds / 1000, nanoseconds < 10_000 ? 3 : 1)) us"
}

/// A number with a fixed count of decimals.
func decimal(_ value: Double, _ places: Int) -> String {
    guard value.isFinite else { return "\(value)" }
    let scale = (0..<places).reduce(1) { scale, _ in scale * 10 }
    let scaled = Int((value.magnitude * Double(scale)).rounded())
    let fraction = String(scaled % scale)
    let padding = String(repeating: "0", count: max(0, places - fraction.count))
    let sign = value < 0 ? "-" : ""
    return places == 0 ? "\(sign)\(scaled)" : "\(sign)\(scaled / scale).\(padding)\(fraction)"
}
