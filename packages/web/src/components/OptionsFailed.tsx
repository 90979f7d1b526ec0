import { Anchor } from '@mantine/core';
import { texts } from '../language/texts.ts';

interface OptionsFailedProps {
  readonly message: string;
  readonly onRetry: () => void;
}

/** The `error` of a field whose options could not be loaded: an error message, and a button that loads them again. */
export function OptionsFailed({ message, onRetry }: OptionsFailedProps) {
  return (
    <>
      {message}{' '}
      <Anchor component="button" type="button" inherit onClick={onRetry}>
        {texts.retry}
      </Anchor>
    </>
  );
}
