import { Center, Loader, Stack, Text } from '@mantine/core';

interface LoadingProps {
  readonly label: string;
}

/** Replaces content that is being loaded: an animated indicator with a label. */
export function Loading({ label }: LoadingProps) {
  return (
    <Center p="xl" role="status">
      <Stack align="center" gap="sm">
        <Loader aria-hidden />
        <Text c="dimmed">{label}</Text>
      </Stack>
    </Center>
  );
}
