/// What happens at the call that is hit; see `Tests/FaultInjection/faultshim.c`.
enum FaultMode: String, CaseIterable {
    case killBefore = "kill-before"
    case killTorn = "kill-torn"
    case killAfter = "kill-after"
    case ioError = "eio"
    case noSpace = "enospc"
    case ioErrorAfter = "eio-after"

    var kills: Bool { [.killBefore, .killTorn, .killAfter].contains(self) }
}
