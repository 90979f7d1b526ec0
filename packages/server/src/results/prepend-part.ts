/** Yields a part that the caller has already read from a generator, and then the remaining parts of the generator. */
export async function* prependPart(
  first: IteratorResult<Buffer>,
  others: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  try {
    for (let next = first; !next.done; next = await others.next()) yield next.value;
  } finally {
    await others.return(undefined);
  }
}
