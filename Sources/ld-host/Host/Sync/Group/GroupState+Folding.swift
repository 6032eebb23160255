internal import LocalDataAPI

extension GroupState {
    /// What the entries of a graph say together.
    init(of graph: GroupGraph, _ verdicts: GroupVerdicts, group: EntryID) {
        let fold = GroupFolding(graph, verdicts)
        self.init(
            group: group, members: fold.profiles(of: fold.members), removed: fold.profiles(of: fold.removed),
            forgotten: fold.profiles(of: fold.forgotten), epoch: fold.epoch, needsRekey: fold.needsRekey,
            isKnownByCode: fold.isKnownByCode, invitations: fold.invitations)
    }
}
