import Chassis
import Hummingbird

/// Every address of the console, with who may use it.
enum Routes {
    static func all(_ console: Console) -> [Route] {
        let signIn = SignInHandlers(console: console)
        let provider = ProviderSignIn(console: console)
        let overview = OverviewScreen(console: console)
        let search = SearchScreen(console: console)
        let purchases = PurchaseScreen(console: console)
        let accounts = AccountScreen(console: console)
        let accountActions = AccountActions(console: console)
        let erasures = ErasureScreens(console: console)
        let notifications = NotificationScreens(console: console)
        let deadLetters = DeadLetterScreens(console: console)
        let selections = SelectionScreens(console: console)
        let coverage = CoverageScreens(console: console)
        let pipeline = PipelineScreen(console: console)
        let webhooks = WebhookScreens(console: console)
        let webhookActions = WebhookActions(console: console)
        let refunds = RefundScreens(console: console)
        let refund = RefundScreen(console: console)
        let offers = OfferScreen(console: console)
        let audit = AuditScreen(console: console)
        let sessions = SessionScreens(console: console)
        let insight = InsightScreen(console: console)
        let revenue = RevenueScreen(console: console)
        let comparisons = ComparisonScreens(console: console)
        let revenuePurchases = RevenuePurchases(console: console)
        let corrections = RevenueCorrections(console: console)
        return Asset.all.map { asset in
            let body = HTTPBody.shared(ByteBuffer(bytes: asset.bytes))
            return Route("GET", "/assets/\(asset.path)", nil) { _ in
                ConsoleResponse(
                    headers: [.contentType: asset.type, .cacheControl: "public, max-age=31536000, immutable"],
                    body: body)
            }
        } + [
            Route("GET", "/sign-in", nil, signIn.show),
            Route("POST", "/sign-in", nil, signIn.signIn),
            Route("GET", "/sign-in/callback", nil, provider.show),
            Route("POST", "/sign-in/callback", nil, provider.signIn),
            Route("POST", "/sign-out", .viewer, signIn.signOut),
            Route("GET", "/help", .viewer) { console.page("help", "Help", HelpPage(), $0) },
            Route("GET", "/", .viewer, overview.show),
            Route("GET", "/search", .viewer, search.show),
            Route("GET", "/purchases/by/{uuid}", .viewer, purchases.showByNotification),
            Route("GET", "/purchases/{environment}/{id}", .support, purchases.show),
            Route("POST", "/purchases/{environment}/{id}/refresh", .support, purchases.refresh),
            Route("POST", "/purchases/{environment}/{id}/extend", .support, ExtensionAction(console: console).extend),
            Route("GET", "/accounts/{environment}/{account}", .support, accounts.show),
            Route("GET", "/accounts/{environment}/{account}/export", .support, accounts.export),
            Route("POST", "/accounts/{environment}/{account}/grants", .support, accountActions.grant),
            Route("POST", "/accounts/{environment}/{account}/grants/{grant}/revoke", .support, accountActions.revoke),
            Route("POST", "/accounts/{environment}/{account}/choose", .operatorRole, accountActions.choose),
            Route("GET", "/accounts/{environment}/{account}/erasure", .admin, erasures.plan),
            Route("POST", "/accounts/{environment}/{account}/erasure", .admin, erasures.forget),
            Route("GET", "/erasures/{uuid}", .admin, erasures.certificate),
            Route("GET", "/notifications", .viewer, notifications.list),
            Route("GET", "/notifications/live", .viewer, notifications.live),
            Route("GET", "/notifications/{uuid}", .viewer, notifications.show),
            Route("GET", "/dead-letters", .viewer, deadLetters.groups),
            Route("GET", "/dead-letters/list", .viewer, deadLetters.list),
            Route("POST", "/dead-letters/selections", .operatorRole, selections.freeze),
            Route("GET", "/dead-letters/selections/{uuid}", .viewer, selections.show),
            Route("POST", "/dead-letters/selections/{uuid}/replay", .operatorRole, selections.replay),
            Route("POST", "/dead-letters/selections/{uuid}/dismiss", .operatorRole, selections.dismiss),
            Route("GET", "/coverage", .viewer, coverage.show),
            Route("GET", "/coverage/recover", .operatorRole, coverage.plan),
            Route("POST", "/coverage/recover", .operatorRole, coverage.recover),
            Route("GET", "/pipeline", .viewer, pipeline.show),
            Route("GET", "/webhooks", .viewer, webhooks.list),
            Route("GET", "/webhooks/{uuid}", .support, webhooks.show),
            Route("POST", "/webhooks/{uuid}/test", .operatorRole, webhookActions.test),
            Route("POST", "/webhooks/{uuid}/pause", .operatorRole, webhookActions.pause),
            Route("POST", "/webhooks/{uuid}/resume", .operatorRole, webhookActions.resume),
            Route("POST", "/webhooks/{uuid}/rotate", .operatorRole, webhookActions.rotate),
            Route("POST", "/webhooks/{uuid}/replay", .operatorRole, webhookActions.replay),
            Route("GET", "/refunds", .viewer, refunds.list),
            Route("GET", "/refunds/{environment}/{id}", .support, refund.show),
            Route("POST", "/refunds/{environment}/{id}/answer", .support, refund.answer),
            Route("GET", "/offers", .viewer, offers.show),
            Route("GET", "/audit", .viewer, audit.show),
            Route("GET", "/sessions", .admin, sessions.list),
            Route("POST", "/sessions/end", .admin, sessions.end),
            Route("GET", "/revenue", .viewer, revenue.index),
            Route("GET", "/revenue/purchases", .viewer, revenuePurchases.show),
            Route("GET", "/revenue/corrections", .viewer, corrections.show),
            Route("GET", "/revenue/{report}", .viewer, revenue.show),
            Route("GET", "/compare", .viewer, comparisons.show),
            Route("GET", "/compare/{uuid}", .viewer, comparisons.differences),
            Route("GET", "/insight", .viewer, insight.index),
            Route("GET", "/insight/{report}", .viewer, insight.show),
        ]
    }
}

struct HelpPage: Sendable {
    struct Key: Sendable {
        let keys: String
        let does: String
    }

    let keys = [
        Key(keys: "/", does: "Search for any id"),
        Key(keys: "?", does: "This page"),
        Key(keys: "j or k", does: "Next or previous row of a list; Enter opens it"),
        Key(keys: "g then o", does: "Overview"),
        Key(keys: "g then n", does: "Notifications"),
        Key(keys: "g then d", does: "Dead letters"),
        Key(keys: "g then c", does: "Coverage"),
        Key(keys: "g then p", does: "Pipeline"),
        Key(keys: "g then w", does: "Webhooks"),
        Key(keys: "g then r", does: "Refund requests"),
        Key(keys: "g then f", does: "Offers"),
        Key(keys: "g then m", does: "Revenue"),
        Key(keys: "g then i", does: "Insight"),
        Key(keys: "g then x", does: "Compare"),
        Key(keys: "g then a", does: "Audit"),
    ]
}
