// What TypeScript itself does not find: promises that nobody waits for, and types that are guessed.
import eslint from "typescript-eslint";

export default eslint.config(
  { ignores: ["dist/", "node_modules/", "server/", "scripts/", "eslint.config.mjs"] },
  ...eslint.configs.strictTypeChecked,
  {
    languageOptions: { parserOptions: { projectService: true } },
    rules: {
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // node:test gives a promise that its runner waits for.
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", package: "node:test", name: ["test"] }] },
      ],
    },
  },
);
