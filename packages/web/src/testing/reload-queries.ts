import { act } from '@testing-library/react';
import { queryClient } from '../api/query-client.ts';

/** Loads everything on the screen again, as polling does, and waits until the screen shows the result. */
export async function reloadQueries(): Promise<void> {
  await act(async () => {
    await queryClient.refetchQueries();
    await new Promise((resolve) => setTimeout(resolve, 20)); // the query cache notifies the components in a later task
  });
}
