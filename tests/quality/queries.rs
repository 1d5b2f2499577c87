//! What people would say, and the file that has to be changed for it. The labels say what the task needs, not what the map shows.

/// Project, request, and the file it needs.
pub(crate) const QUERIES: [(&str, &str, &str); 50] = [
    (
        "shop",
        "Vouchers should count whatever the case of their letters",
        "shop/discount.py",
    ),
    (
        "shop",
        "The value added tax is 19 percent now",
        "shop/tax.py",
    ),
    (
        "shop",
        "If the same article is put in twice, merge the two into one line",
        "shop/cart.py",
    ),
    (
        "shop",
        "The entries for the books need the name of the customer",
        "shop/report.py",
    ),
    (
        "shop",
        "Audit events should survive a restart",
        "shop/audit.py",
    ),
    (
        "platform",
        "Badges must escape HTML in their text",
        "packages/ui/src/badge.ts",
    ),
    (
        "platform",
        "Slugs should not contain umlauts",
        "packages/core/src/text.ts",
    ),
    (
        "platform",
        "Put a separator between thousands in prices",
        "packages/core/src/money.ts",
    ),
    (
        "platform",
        "Show the badge on the product page only for new products",
        "apps/web/src/product.ts",
    ),
    (
        "platform",
        "Rows of orders in the admin app need a link",
        "apps/admin/src/orders.ts",
    ),
    (
        "ledger",
        "Blank lines in the file should be skipped, not be an error",
        "crates/store/src/parse.rs",
    ),
    (
        "ledger",
        "An unknown currency code should be told with its line",
        "crates/store/src/parse.rs",
    ),
    (
        "ledger",
        "The balance must not overflow",
        "crates/store/src/lib.rs",
    ),
    (
        "ledger",
        "Rows of the report should show decimals",
        "crates/report/src/lib.rs",
    ),
    (
        "ledger",
        "An amount of zero must not count as a debit or a credit",
        "crates/money/src/lib.rs",
    ),
    (
        "services",
        "When a service starts in the deployment, print the time too",
        "deploy/env.sh",
    ),
    (
        "services",
        "Serve an order as JSON with its items",
        "orders/api/api.go",
    ),
    (
        "services",
        "Letters to people without a name should begin with Dear customer",
        "mail/mail/letters.py",
    ),
    (
        "services",
        "mail should refuse an empty address of the queue",
        "mail/mail/queue.py",
    ),
    (
        "services",
        "When an order is not found, say which one",
        "orders/store/store.go",
    ),
    (
        "clinic",
        "Users are logged out too early: a session should stay alive for sixty idle minutes",
        "clinic/auth/session.py",
    ),
    (
        "clinic",
        "Text messages over 160 characters are cut; send them in parts",
        "clinic/notify/sms.py",
    ),
    (
        "clinic",
        "0.285 becomes 28 cents, it should be rounded to 29",
        "clinic/billing/rounding.py",
    ),
    (
        "clinic",
        "Two appointments that only touch at their ends are refused as a conflict",
        "clinic/schedule/overlap.py",
    ),
    (
        "clinic",
        "A name with a semicolon breaks the columns of the exported CSV",
        "clinic/export/csv_writer.py",
    ),
    (
        "clinic",
        "The environment should win over the settings file",
        "clinic/config/loader.py",
    ),
    (
        "clinic",
        "A migration that fails halfway leaves the schema version raised",
        "clinic/db/migrations.py",
    ),
    (
        "clinic",
        "Failed background jobs are retried too quickly; wait twice as long each time",
        "clinic/jobs/backoff.py",
    ),
    (
        "clinic",
        "Listing patients from the repository should leave out those who are gone",
        "clinic/patient/repository.py",
    ),
    (
        "clinic",
        "`create_invoice` in the service must reject negative amounts",
        "clinic/invoice/service.py",
    ),
    (
        "market",
        "Requests hang forever when the server does not answer; give them a timeout",
        "packages/http/src/client.ts",
    ),
    (
        "market",
        "Polish plurals are wrong for 2, 3 and 4",
        "packages/i18n/src/plural.ts",
    ),
    (
        "market",
        "The sign-up form rejects mail addresses with a plus sign",
        "packages/forms/src/email.ts",
    ),
    (
        "market",
        "The search box asks the server for every key that is pressed",
        "apps/web/src/search-box.tsx",
    ),
    (
        "market",
        "State is lost when the page is reloaded; keep it in localStorage",
        "packages/persist/src/persist.ts",
    ),
    (
        "market",
        "Refresh an access token before it expires, not after a call failed",
        "packages/auth/src/token.ts",
    ),
    (
        "market",
        "The admin table sorts dates as if they were strings",
        "apps/admin/src/sort.ts",
    ),
    (
        "market",
        "Dialogs should close with the escape key",
        "apps/web/src/modal.tsx",
    ),
    (
        "market",
        "Feature flags are read once; read them again each minute",
        "packages/flags/src/flags.ts",
    ),
    (
        "market",
        "The coupon filter should forget its state when it is shown again",
        "packages/coupon/src/filter.ts",
    ),
    (
        "fleet",
        "GPS positions south of the equator come out north: the hemisphere is thrown away",
        "crates/telemetry/src/nmea.rs",
    ),
    (
        "fleet",
        "The distance between two points across the date line is far too long",
        "crates/geo/src/haversine.rs",
    ),
    (
        "fleet",
        "After a crash the last entry may be torn; skip it in the replay",
        "crates/queue/src/journal.rs",
    ),
    (
        "fleet",
        "Limit each client to ten requests a second with short bursts",
        "crates/throttle/src/lib.rs",
    ),
    (
        "fleet",
        "The same alarm is sent twice within a minute",
        "services/alerts/dedupe.go",
    ),
    (
        "fleet",
        "Browsers refuse the answers of the gateway: Access-Control-Allow-Origin is missing",
        "services/gateway/cors.go",
    ),
    (
        "fleet",
        "Tokens with the none algorithm must not be accepted",
        "services/gateway/jwt.go",
    ),
    (
        "fleet",
        "Add --quiet to the command line",
        "crates/cli/src/args.rs",
    ),
    (
        "fleet",
        "Vehicles need a licence plate in their model",
        "crates/vehicle/src/model.rs",
    ),
    (
        "fleet",
        "`ListDrivers` of the repository should come in pages",
        "services/driver/repository.go",
    ),
];
