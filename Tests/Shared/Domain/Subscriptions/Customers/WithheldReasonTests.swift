import Subscriptions
import Testing

/// Why a purchase gives an account no access, in one place for all that say it.
@Suite struct WithheldReasonTests {
    @Test func `A purchase is withheld by its state, and by the rule about its accounts where the state gives access`()
    {
        #expect(WithheldReason(nil, nil) == .notFound && WithheldReason(nil, .refused) == .notFound)
        let own: [PurchaseAccount.Reason: WithheldReason] = [.refused: .refused, .oldCopy: .oldCopy]
        for state in SubscriptionState.allCases {
            let isOpen = [.active, .gracePeriod, .owned].contains(state)
            for because in PurchaseAccount.Reason.allCases.map(Optional.some) + [nil] {
                let rule = because.flatMap { own[$0] } ?? .otherAccount
                #expect(WithheldReason(state, because) == (isOpen ? rule : .state(state)), "\(state)")
            }
        }
    }

    @Test func `An upload that gets no purchase is told by its evidence why`() {
        for isTaken in [false, true] {
            for evidence in ClaimEvidence.allCases {
                #expect(WithheldReason(evidence, isTaken: isTaken) == (evidence == .old ? .oldCopy : .otherAccount))
            }
        }
        #expect(WithheldReason(nil, isTaken: true) == .otherAccount)
        #expect(WithheldReason(nil, isTaken: false) == .notClaimed)
    }

    @Test func `The word of a reason is the case's name, or the state's`() {
        let reasons: [WithheldReason] = [
            .notFound, .otherAccount, .oldCopy, .refused, .notClaimed, .tooManyTransfers, .tooManyAccounts,
        ]
        for reason in reasons { #expect(reason.name == "\(reason)") }
        for state in SubscriptionState.allCases { #expect(WithheldReason.state(state).name == state.rawValue) }
    }
}
