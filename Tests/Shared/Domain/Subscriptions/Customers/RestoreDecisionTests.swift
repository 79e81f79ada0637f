import Subscriptions
import Testing

/// Restores of a purchase that another account has, in all combinations.
@Suite struct RestoreDecisionTests {
    /// The table in Documentation/Ownership.md, from the other side: everything that must hold for a move.
    private static func expected(_ restore: Restore, _ policy: SharingPolicy, needsDevice: Bool) -> Bool {
        let isBuyer = restore.account == restore.buyer
        let strong: Set<ClaimEvidence?> =
            needsDevice ? [.apple, .operator, .device] : [.apple, .operator, .device, .signed]
        let conditions = [
            !restore.isChosenByOperator,
            isBuyer || policy == .lastRestoreWins || (policy == .lastRestoreWinsIfLapsed && restore.isLapsed),
            isBuyer || strong.contains(restore.evidence),
            isBuyer || restore.countedMoves < 3,
        ]
        return conditions.allSatisfy(\.self)
    }

    @Test func `A restore moves a purchase if evidence, policy, state and limit let it, and says what does not (O4)`() {
        var outcomes: Set<Restore.Outcome?> = []
        for policy in SharingPolicy.allCases {
            for evidence in ClaimEvidence.allCases.map(Optional.some) + [nil] {
                for bits in 0..<16 {
                    for moves in 0...4 {
                        let restore = Restore(
                            account: "bert", evidence: evidence, holders: ["anna"],
                            buyer: bits & 1 == 0 ? "anna" : "bert", isChosenByOperator: bits & 2 != 0,
                            isLapsed: bits & 4 != 0, countedMoves: moves)
                        let needsDevice = bits & 8 != 0
                        let outcome = restore.outcome(policy, needsDevice: needsDevice)
                        outcomes.insert(outcome)
                        #expect(
                            (outcome == .accepted) == Self.expected(restore, policy, needsDevice: needsDevice),
                            "\(restore) \(policy) \(needsDevice): \(String(describing: outcome))")
                    }
                }
            }
        }
        #expect(outcomes == Set(Restore.Outcome.allCases.map(Optional.some)))
    }

    @Test func `A restore of what the account has, or what no account has, moves nothing`() {
        for holders in [["bert"], [], ["anna", "bert"]] {
            let restore = Restore(
                account: "bert", evidence: .device, holders: holders, buyer: nil, isChosenByOperator: false,
                isLapsed: true, countedMoves: 0)
            #expect(restore.outcome(.lastRestoreWins, needsDevice: false) == nil)
        }
    }

    @Test func `Moves of a purchase within 30 days count, but not those back to the buyer`() {
        func move(_ id: String, on day: Double, isCounted: Bool = true) -> PurchaseMove {
            PurchaseMove(
                key: Sample.key(id), to: "bert", movedAt: Sample.day(day), isCounted: isCounted, isOfLapsed: false)
        }
        let moves = [
            move("1", on: 0), move("1", on: 1), move("1", on: 2, isCounted: false), move("2", on: 3), move("3", on: 3),
        ]
        #expect(moves.count(of: [Sample.key("1")], before: Sample.day(29)) == 2)
        #expect(moves.count(of: [Sample.key("1")], before: Sample.day(30)) == 1)
        #expect(moves.count(of: [Sample.key("1"), Sample.key("2")], before: Sample.day(29)) == 3)
    }
}
