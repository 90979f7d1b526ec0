import { MantineProvider } from '@mantine/core';
import { cleanup, render, screen } from '@testing-library/react';
import { it } from 'vitest';
import { UploadItem } from './UploadItem.tsx';

const line = {
  key: 'u1',
  dataset: 'Böbrek',
  path: 'half.svs',
  fileCount: 1,
  sizeBytes: 700_000_000,
  sentBytes: 100_000_000,
  bytesPerSecond: 2_000_000,
  sentFiles: 0,
  currentFile: null,
  state: 'Gönderiliyor',
  tone: 'calm',
  detail: null,
  actions: [],
  uploadId: 'u1',
} as const;

it('the row of an upload shows speed and remaining time while bytes are sent, and neither when the rate is 0 or unknown', () => {
  const renderItem = (bytesPerSecond: number | null) => {
    cleanup();
    render(
      <MantineProvider env="test">
        <UploadItem line={{ ...line, bytesPerSecond }} />
      </MantineProvider>,
    );
  };
  renderItem(2_000_000);
  screen.getByText('100 MB / 700 MB · 2 MB/sn · yaklaşık 5 dk kaldı');
  renderItem(20_000_000);
  screen.getByText('100 MB / 700 MB · 20 MB/sn · bir dakikadan az kaldı');
  for (const noRate of [0, null]) {
    renderItem(noRate);
    screen.getByText('100 MB / 700 MB');
  }
});
