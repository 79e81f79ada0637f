import Foundation

/// The work beside the pipeline: endpoints of webhooks, refund requests, figures of revenue.
extension Attention {
    func webhooks(_ report: PipelineStatus) -> [String] {
        report.webhooks.compactMap { webhook in
            let name = "webhook endpoint \(webhook.id) (\(webhook.url.escaped))"
            let fault = webhook.lastFault.map { ": \($0.escaped)" } ?? ""
            let waiting = webhook.waiting > 0 ? "; events of \(Int(webhook.waiting).counted("purchase")) wait" : ""
            let age = webhook.oldest.map { report.at.timeIntervalSince($0) } ?? 0
            switch webhook.state {
            case "disabled":
                return
                    "\(name) is disabled\(fault)\(waiting): repair its receiver, then storekeeper webhooks resume \(webhook.id)"
            case "failing":
                return
                    "\(name) is failing\(fault)\(waiting): repair its receiver; nothing that waits is given up meanwhile"
            case "active" where age > delivery:
                return
                    "\(name) is \(TimeSpan.age(age)) late\(fault)\(waiting): its receiver is slow or refuses some events; "
                    + "storekeeper webhooks deliveries \(webhook.id) --state waiting"
            case "testing" where age > delivery:
                return
                    "\(name) has not answered its test\(fault)\(waiting) until it does: repair its receiver, then "
                    + "storekeeper webhooks test \(webhook.id)"
            default: return nil
            }
        }
    }

    func refunds(_ report: PipelineStatus) -> [String] {
        report.refunds.flatMap { refunds -> [String] in
            let app = "\(refunds.app.escaped) in \(refunds.environment)"
            var sentences: [String] = []
            if refunds.missed > 0 {
                sentences.append(
                    "\(Int(refunds.missed).counted("refund request")) of \(app) of the last day got no answer within 12 hours: "
                        + "storekeeper refunds list --state missed")
            }
            if refunds.failed > 0 {
                sentences.append(
                    "Apple rejected \(Int(refunds.failed).counted("answer")) to refund requests of \(app) within the last day: "
                        + "storekeeper refunds list --state failed")
            }
            if let oldest = refunds.oldestWaiting, report.at.timeIntervalSince(oldest) > answering {
                let left =
                    refunds.deadline.map {
                        ", and the first is over in \(TimeSpan.age(max(0, $0.timeIntervalSince(report.at))))"
                    } ?? ""
                sentences.append(
                    "\(Int(refunds.waiting).counted("answer")) to refund requests of \(app) wait for Apple, the oldest for "
                        + "\(TimeSpan.age(report.at.timeIntervalSince(oldest)))\(left): check the app's key of Apple's API and the scheduler's log"
                )
            }
            return sentences
        }
    }

    func figures(_ report: PipelineStatus) -> [String] {
        guard let figures = report.figures else { return [] }
        var sentences: [String] = []
        if figures.differences > 0 {
            sentences.append(
                "the last check found \(Int(figures.differences).counted("figure")) of monthly revenue that differ from what was paid: "
                    + "storekeeper insight check")
        }
        if let asOf = figures.asOf, report.at.timeIntervalSince(asOf) > figuring {
            sentences.append(
                "the figures of revenue are as of \(TimeSpan.age(report.at.timeIntervalSince(asOf))) ago: the scheduler does not run, "
                    + "or its log says why (Job failed, job figures)")
        }
        if let since = figures.uncheckedSince, report.at.timeIntervalSince(since) > checking {
            sentences.append(
                "the figures of revenue were last checked \(TimeSpan.age(report.at.timeIntervalSince(since))) ago: the scheduler's log "
                    + "says why (Job failed, job figure-check); storekeeper insight check")
        }
        return sentences
    }
}
