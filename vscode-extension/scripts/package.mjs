// Makes the VSIX: `npm run package`, or with a bundled server
// `npm run package -- --target linux-x64 --server ../target/release`.
import { spawnSync } from "node:child_process";
import { chmod, copyFile, cp, mkdir, rm, stat } from "node:fs/promises";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { target: { type: "string" }, server: { type: "string" }, out: { type: "string" } },
});
const run = (program, args) => {
  const done = spawnSync(process.execPath, [program, ...args], { stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
};

run("scripts/build.mjs", []);
await rm("server", { recursive: true, force: true });
if (values.server !== undefined) {
  if (values.target === undefined) {
    console.error("a server runs on one platform: name it with --target, such as linux-x64");
    process.exit(2);
  }
  await mkdir("server");
  for (const name of ["legwork", "legwork-vmm"]) {
    await copyFile(`${values.server}/${name}`, `server/${name}`);
    await chmod(`server/${name}`, 0o755);
  }
  await cp(`${values.server}/guest`, "server/guest", { recursive: true });
}
await copyFile("../LICENSE", "LICENSE.txt");
const out = values.out ?? `dist/legwork${values.target === undefined ? "" : `-${values.target}`}.vsix`;
const target = values.target === undefined ? [] : ["--target", values.target];
run("node_modules/@vscode/vsce/vsce", [
  "package", "--no-dependencies", "--allow-missing-repository", "--no-rewrite-relative-links", ...target, "--out", out,
]);
await rm("LICENSE.txt");
await rm("server", { recursive: true, force: true });
console.log(`${out}: ${(await stat(out)).size} bytes`);
