// Bundles the extension. The language client is a file of its own, read only when a server is started.
import { build } from "esbuild";
import { rm, stat } from "node:fs/promises";

/** Of all that is read when the extension works, in bytes. */
const LARGEST = 1_000_000;

await rm("dist", { recursive: true, force: true });
await build({
  entryPoints: { main: "src/main.ts", client: "src/client.ts" },
  outdir: "dist",
  bundle: true,
  platform: "node",
  format: "cjs",
  target: "node20",
  external: ["vscode", "./client.js"],
  minify: true,
  keepNames: true,
  sourcemap: false,
  legalComments: "linked",
  logLevel: "warning",
});

const sizes = await Promise.all(["main", "client"].map(async (name) => (await stat(`dist/${name}.js`)).size));
const size = sizes.reduce((sum, one) => sum + one, 0);
console.log(`the bundle has ${size} bytes`);
if (size >= LARGEST) {
  console.error(`the bundle may have ${LARGEST} bytes at the most`);
  process.exit(1);
}
