import type { KyselyPlugin } from 'kysely';

/** Returns a plugin that counts the characters of the rows that queries return. */
export function createCharCounter(): { readonly plugin: KyselyPlugin; chars: number } {
  const counter = {
    chars: 0,
    plugin: {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        counter.chars += JSON.stringify(result.rows).length;
        return result;
      },
    } satisfies KyselyPlugin,
  };
  return counter;
}
